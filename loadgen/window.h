/* The window of a load, and its moves to earlier ends of intervals. */
#ifndef SCALE_WINDOW_H
#define SCALE_WINDOW_H

#include "worker.h"

static inline uint64_t window_start(const struct load *load)
{
    return atomic_load_explicit(&load->window_start_ns, memory_order_relaxed);
}

static inline uint64_t window_end(const struct load *load)
{
    return atomic_load_explicit(&load->window_end_ns, memory_order_relaxed);
}

/* Begins the window at the end of the current interval with its length, after SIGUSR2 in the
 * warm-up. */
void window_begin_at(struct load *load, uint64_t tick_ns);

/* Ends the window with the current interval, after SIGUSR1. Has no effect on fixed work. */
void window_end_at(struct load *load, uint64_t tick_ns);

#endif
