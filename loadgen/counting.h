/* What becomes of a request in the worker's counters and histograms: answered, failed, an error on
 * the way. It sends nothing; that a worker has failed too often is the one thing it decides. */
#ifndef SCALE_COUNTING_H
#define SCALE_COUNTING_H

#include "worker.h"

/* The tally of the current request's operation. */
static inline struct tally *counting_tally(const struct worker *w)
{
    return &w->tallies[w->operation];
}

static inline bool worker_asks(const struct worker *w)
{
    return w->load->operations->list[w->operation].ask != NULL;
}

static inline uint64_t window_start(const struct load *load)
{
    return atomic_load_explicit(&load->window_start_ns, memory_order_relaxed);
}

static inline uint64_t window_end(const struct load *load)
{
    return atomic_load_explicit(&load->window_end_ns, memory_order_relaxed);
}

void counting_error(struct worker *worker); /* an attempt that failed: worker->fault */

/* A request that is given up, or so many rows of it that were not acknowledged. */
void counting_failure(struct worker *worker, uint64_t rows);

/* A request that was answered; `rows`: acknowledged ones of a write. */
void counting_answer(struct worker *worker, uint64_t rows, uint64_t sent_ns, uint64_t intended_ns,
                     uint64_t now_ns);

#endif
