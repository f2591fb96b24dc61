/* The operations of a load and their weights: what of `operations=NAME:WEIGHT,...` a request is.
 * Writing rows is the only one that this program has; it knows no texts and no drivers. */
#ifndef SCALE_OPERATIONS_H
#define SCALE_OPERATIONS_H

#include <stdint.h>

#include "mistakes.h"

enum { OPERATIONS_MAX = 16 };

struct operation {
    const char *name;
    const char *unit; /* of what it counts */
    uint64_t weight;  /* its share of the requests, of the sum of all weights */
};

struct operations {
    uint32_t count;
    struct operation list[OPERATIONS_MAX];
};

void operations_read(struct operations *operations, const char *text, struct mistakes *mistakes);

#endif
