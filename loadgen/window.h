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

/* After SIGUSR2 in the warm-up; the window keeps its length. */
void window_begin_at(struct load *load, uint64_t tick_ns);

/* After SIGUSR1. No effect on fixed work. */
void window_end_at(struct load *load, uint64_t tick_ns);

#endif
