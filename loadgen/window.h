/* Moves the window of a running load to the end of an interval. Refuses to move it later. */
#ifndef SCALE_WINDOW_H
#define SCALE_WINDOW_H

#include <stdint.h>

struct load;

/* SIGUSR2, in the warm-up: the window begins with the end of the interval that runs, and keeps its
 * length. */
void window_begin_at(struct load *load, uint64_t tick_ns);

/* SIGUSR1, in the window: it ends with the interval that runs, so that it holds whole intervals
 * only. For fixed work it means nothing. */
void window_end_at(struct load *load, uint64_t tick_ns);

#endif
