/* Open loop: the requests that were due when the window ended and had no answer. They are counted
 * with the time that they had waited until then, or a server that stalls at the end would look
 * better than one that stalls before. It reads workers that may hang, and changes none. */
#ifndef SCALE_OVERDUE_H
#define SCALE_OVERDUE_H

#include "worker.h"

struct overdue {
    uint64_t unsent;    /* requests due before `end_ns` and not sent */
    uint64_t in_flight; /* sent before, and not answered when it ended */
};

/* Adds what the worker owed at `end_ns` to the counts and to the response times, which are by
 * operation: a request that was not sent has one already. */
void overdue_add(struct overdue *overdue, struct histogram *response, const struct worker *worker,
                 uint64_t end_ns);

#endif
