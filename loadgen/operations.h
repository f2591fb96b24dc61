/* Operations and their weights: `operations=NAME:WEIGHT,...`. `write` sends rows, others
 * `ask.NAME.text`. */
#ifndef SCALE_OPERATIONS_H
#define SCALE_OPERATIONS_H

#include "asks.h"

struct operation {
    const char *name;
    const char *unit; /* unit of what it counts */
    uint64_t weight;  /* its share of the sum of all weights */
    struct ask *ask;  /* NULL: it writes */
};

struct operations {
    char *names;
    uint32_t count;
    uint64_t weights;
    bool has_write, has_ask;
    struct operation list[OPERATIONS_MAX];
};

void operations_read(struct operations *operations, const struct spec *spec,
                     struct mistakes *mistakes);
void operations_free(struct operations *operations);

uint32_t operations_pick(const struct operations *operations, uint64_t hash);

/* Units of a request in a rate: 1 if any operation asks, otherwise its rows. */
uint32_t operations_units(const struct operations *operations, const struct spec *spec);

#endif
