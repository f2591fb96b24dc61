/* The counters of all workers in sums, also while they load. */
#ifndef SCALE_TOTALS_H
#define SCALE_TOTALS_H

#include "worker.h"

struct totals { /* summed over workers */
    uint64_t rows_acked, rows_window, rows_failed, requests, errors, retries, last_ack_ns;
    uint64_t rows_unanswered; /* sent, and neither acknowledged nor failed until now */
};

void totals_of(const struct worker *workers, uint64_t count, struct totals *totals);

#endif
