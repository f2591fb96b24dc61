/* When a worker sends its next request. The stop of the load ends a wait. */
#ifndef SCALE_WAITING_H
#define SCALE_WAITING_H

#include "counting.h"

static inline bool worker_stopped(const struct worker *w)
{
    return atomic_load_explicit(&w->load->stop, memory_order_relaxed);
}

/* Returns the time. */
uint64_t waiting_until(const struct worker *w, uint64_t when_ns);

/* False: the request will not be sent. */
bool waiting_turn(struct worker *w, uint64_t *now_ns, uint64_t *intended_ns);

#endif
