/* Open loop: counts requests that were due in the window and had no answer, with the time that they
 * had waited. Else a server that stalls at the end would look better. It reads workers that may
 * hang. */
#ifndef SCALE_OVERDUE_H
#define SCALE_OVERDUE_H

#include "worker.h"

struct overdue {
    uint64_t unsent; /* requests due before `end_ns` and not sent */
    uint64_t in_flight; /* sent before `end_ns` and not answered then */
};

/* Adds what the worker owed at `end_ns` to the counts and to the response times of the operations.
 * */
void overdue_add(struct overdue *overdue, struct histogram *response, const struct worker *worker,
                 uint64_t end_ns);

#endif
