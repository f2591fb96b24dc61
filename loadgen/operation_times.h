/* Response times of each operation within intervals, for the reporter. */
#ifndef SCALE_OPERATION_TIMES_H
#define SCALE_OPERATION_TIMES_H

#include "worker.h"

struct operation_times { /* begins as zeros */
    struct histogram sum, before[OPERATIONS_MAX];
    uint64_t answered_before[OPERATIONS_MAX];
};

/* A single operation's times are those of all requests. */
void operation_times_init(struct operation_times *times, uint32_t operations);
void operation_times_free(struct operation_times *times);

/* Since its last one; 0: too few requests so far, which count in the next call. */
uint64_t operation_times_p99(struct operation_times *times, const struct load *load,
                             const struct worker *workers, uint32_t operation);

#endif
