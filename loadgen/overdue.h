/* Open loop: counts the requests that were due when the window ended and had no answer, with the
 * time that they had waited. Otherwise a server that stalls at the end would look better than
 * one that stalls before. It reads workers that may hang, and changes none. */
#ifndef SCALE_OVERDUE_H
#define SCALE_OVERDUE_H

#include "worker.h"

struct overdue {
    uint64_t unsent;    /* requests due before `end_ns` and not sent */
    uint64_t in_flight; /* sent before `end_ns` and not answered then */
};

/* Adds what the worker owed at `end_ns` to the counts and, for requests that were not sent, to
 * the response times of their operations. */
void overdue_add(struct overdue *overdue, struct histogram *response, const struct worker *worker,
                 uint64_t end_ns);

#endif
