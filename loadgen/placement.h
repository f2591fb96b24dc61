/* Which worker loads which tables in what order: a pure function of the driver's partitions, so
 * that processes agree. */
#ifndef SCALE_PLACEMENT_H
#define SCALE_PLACEMENT_H

#include "spec.h"

struct share { /* one worker's tables, in the order in which requests visit them */
    uint32_t *tables;
    uint32_t count;
};

/* Fills shares[0 .. threads-1], those of this process; 0, or -1 when memory is short. */
int placement_share(const struct spec *spec, const uint32_t *partition_of, struct share *shares);
void placement_free(struct share *shares, uint32_t count);

#endif
