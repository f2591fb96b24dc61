/* The keys `held` and `held_s`: so many workers, the last ones, send nothing in some times of the
 * window: START-END,..., in seconds since it began. */
#ifndef SCALE_HELD_H
#define SCALE_HELD_H

#include "mistakes.h"
#include "spec.h"

/* All workers held, or times that do not follow each other. */
void held_check(const struct spec *spec, struct mistakes *mistakes);

/* The end of the time in which worker `number` is held, in ns since the window began; 0: it is
 * free. */
uint64_t held_until_ns(const struct spec *spec, uint32_t number, uint64_t in_window_ns);

#endif
