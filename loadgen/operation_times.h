/* The response times of each operation within an interval, from the histograms that workers go on
 * writing: what the reporter tells of them while the load runs. */
#ifndef SCALE_OPERATION_TIMES_H
#define SCALE_OPERATION_TIMES_H

#include "worker.h"

struct operation_times { /* begins as zeros */
    struct histogram sum, before[OPERATIONS_MAX];
};

/* A single operation needs no times of its own: they are those of all requests. */
void operation_times_init(struct operation_times *times, uint32_t operations);
void operation_times_free(struct operation_times *times);

/* The 99th percentile since the last call for this operation; 0 where there were too few. */
uint64_t operation_times_p99(struct operation_times *times, const struct load *load,
                             const struct worker *workers, uint32_t operation);

#endif
