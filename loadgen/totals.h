/* The counters of all workers in sums, also while they load. */
#ifndef SCALE_TOTALS_H
#define SCALE_TOTALS_H

#include "worker.h"

struct totals { /* summed over workers */
    uint64_t rows_acked, rows_window, rows_failed, rows_sent;
    uint64_t requests, errors, retries, last_ack_ns;
    uint64_t requests_failed; /* given up; SHORT_ACK too */
    uint64_t requests_window; /* answered in the window */
    uint64_t rows_unanswered; /* sent, and neither acknowledged nor failed until now */
};

/* What all workers did of one operation. */
void totals_of_operation(const struct worker *workers, uint64_t count, uint32_t operation,
                         struct tally_sums *sums);

/* How many different rows the acknowledged ones are by table and time, after the load; false where
 * it is not known which ones were acknowledged, or memory is short. */
bool totals_distinct(const struct worker *workers, uint64_t count, const struct totals *totals,
                     uint64_t *rows);

void totals_of(const struct worker *workers, uint64_t count, struct totals *totals);

#endif
