/* The only reader of the workers' counters: prints phases and intervals, takes signals, ends after
 * the workers. */
#ifndef SCALE_REPORTER_H
#define SCALE_REPORTER_H

#include "totals.h"

struct report { /* events that only the reporter saw */
    bool interrupted;
    bool abandoned;           /* workers were left behind */
    bool measured;            /* the window was reached */
    bool window_over;         /* as planned or cut short */
    uint64_t cpu_start_ns, cpu_end_ns; /* CPU time of this process at the ends of the window */
};

/* Blocked in this thread and its children; returns their descriptor. */
int reporter_take_signals(void);

void reporter_run(struct load *load, struct worker *workers, int signal_fd, struct report *report);

#endif
