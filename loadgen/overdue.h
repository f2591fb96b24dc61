/* Open loop: requests that were due in the window and had no answer, with the time that they had
 * waited. Else a server that stalls at the end would look better. Workers may hang. */
#ifndef SCALE_OVERDUE_H
#define SCALE_OVERDUE_H

#include "worker.h"

struct overdue {
    uint64_t unsent; /* requests due before `end_ns` and not sent */
    uint64_t in_flight; /* sent before `end_ns` and not answered then */
};

void overdue_add(struct overdue *overdue, struct histogram *response, const struct worker *worker,
                 uint64_t end_ns);

#endif
