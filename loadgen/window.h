/* Moves the window of a running load to the end of an interval. Refuses to move it later. */
#ifndef SCALE_WINDOW_H
#define SCALE_WINDOW_H

#include <stdint.h>

struct load;

/* Begins the window at the end of the current interval and keeps its length, after SIGUSR2 in
 * the warm-up. */
void window_begin_at(struct load *load, uint64_t tick_ns);

/* Ends the window with the current interval, so that it has whole intervals only, after SIGUSR1.
 * Has no effect on fixed work. */
void window_end_at(struct load *load, uint64_t tick_ns);

#endif
