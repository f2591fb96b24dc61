/* The operations of a load and their weights: what of `operations=NAME:WEIGHT,...` a request is.
 * `write` sends rows; every other one asks the text of its key `ask.NAME.text`. It knows no
 * driver. */
#ifndef SCALE_OPERATIONS_H
#define SCALE_OPERATIONS_H

#include "asks.h"

struct operation {
    const char *name;
    const char *unit; /* unit of what it counts */
    uint64_t weight;  /* its share of the requests, of the sum of all weights */
    struct ask *ask;  /* NULL: it writes */
};

struct operations {
    char *names;
    uint32_t count;
    uint64_t weights;
    bool has_write, has_ask;
    struct operation list[OPERATIONS_MAX];
};

/* Reads the keys `operations` and `ask.*` of the spec. */
void operations_read(struct operations *operations, const struct spec *spec,
                     struct mistakes *mistakes);
void operations_free(struct operations *operations);

/* Which operation the request of this hash is (ask_hash). */
uint32_t operations_pick(const struct operations *operations, uint64_t hash);

/* What a rate counts: 1 request when there is anything but writes, else its rows. */
uint32_t operations_units(const struct operations *operations, const struct spec *spec);

#endif
