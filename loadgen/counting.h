/* Counts what becomes of a request, and decides that a worker has failed too often. */
#ifndef SCALE_COUNTING_H
#define SCALE_COUNTING_H

#include "worker.h"

static inline struct tally *counting_tally(const struct worker *w)
{
    return &w->tallies[w->operation];
}

static inline bool worker_asks(const struct worker *w)
{
    return w->load->operations->list[w->operation].ask != NULL;
}

void counting_error(struct worker *worker); /* Counts an attempt that failed, with worker->fault. */

/* A request that is given up, or rows that were not acknowledged. */
void counting_failure(struct worker *worker, uint64_t rows);

/* `rows`: acknowledged rows of a write. */
void counting_answer(struct worker *worker, uint64_t rows, uint64_t sent_ns, uint64_t intended_ns,
                     uint64_t now_ns);

#endif
