/* Which worker loads which tables in what order: a pure function of partitions, so that processes
 * agree. */
#ifndef SCALE_PLACEMENT_H
#define SCALE_PLACEMENT_H

#include "spec.h"

struct share { /* in the order in which requests visit the tables */
    uint32_t *tables;
    uint32_t count;
};

/* Shares of this process; -1 when memory is short. */
int placement_share(const struct spec *spec, const uint32_t *partition_of, struct share *shares);
void placement_free(struct share *shares, uint32_t count);

#endif
