/* Fixed work: with `rounds` each worker asks its operations about each of its items, so often. An
 * item is a line of the file `items` and replaces {item}. */
#ifndef SCALE_TURNS_H
#define SCALE_TURNS_H

#include "operations.h"

struct turns { /* shared by the whole load */
    char *text;
    const char **items;
    uint32_t *lengths;
    uint32_t count; /* 0: each worker asks every operation */
};

struct turn { /* place of one worker; its items follow each other */
    uint64_t number, end;
    uint32_t first, items; /* items: at least 1 */
    uint32_t operation;
    const char *item;
    int32_t length;
    bool begins_round;
    uint64_t round_ns; /* start of the worker's current round */
};

void turns_read(struct turns *turns, const struct spec *spec, const struct operations *operations,
                struct mistakes *mistakes);
void turns_free(struct turns *turns);

void turn_init(struct turn *turn, const struct turns *turns, const struct spec *spec,
               uint32_t operations, uint32_t worker);

/* False: all are done. */
bool turn_next(struct turn *turn, const struct turns *turns, const struct spec *spec,
               uint32_t operations);

#endif
