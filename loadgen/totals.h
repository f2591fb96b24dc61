/* Sums of the workers' counters, also while they load. */
#ifndef SCALE_TOTALS_H
#define SCALE_TOTALS_H

#include "worker.h"

struct totals { /* summed over workers */
    uint64_t rows_acked, rows_window, rows_failed, rows_sent;
    uint64_t requests, errors, retries, last_ack_ns;
    uint64_t requests_failed; /* given up, or with too few rows acknowledged */
    uint64_t requests_window; /* answered in the window */
    uint64_t rows_unanswered; /* sent, and neither acknowledged nor failed so far */
};

void totals_of_operation(const struct worker *workers, uint64_t count, uint32_t operation,
                         struct tally_sums *sums);

/* By table and time, after the load; false: it is not known which rows were acknowledged, or out of
 * memory. */
bool totals_distinct(const struct worker *workers, uint64_t count, const struct totals *totals,
                     uint64_t *rows);

void totals_of(const struct worker *workers, uint64_t count, struct totals *totals);

#endif
