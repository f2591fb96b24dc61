/* Counters and histograms of one operation of one worker, on their own cache lines, written by
 * relaxed stores. */
#ifndef SCALE_TALLY_H
#define SCALE_TALLY_H

#include "drivers/driver.h"
#include "histogram.h"

enum { TALLY_DIGITS = 3 }; /* digits of its histograms */

struct tally {
    _Alignas(LINE_PAIR_BYTES) counter requests; /* begun */
    counter answered, answered_window;
    counter failed; /* given up, after all attempts */
    counter errors, retries;
    counter units, units_window; /* rows acknowledged, or answers */
    counter checked, check_cpu_ns; /* answers handed over; of requests whose content is kept */
    counter rows_window, values_window, bytes_window, empty_window; /* read */
    struct histogram response, service;
};

struct tally_sums { /* one operation, summed over workers */
    uint64_t requests, answered, answered_window, failed, errors, retries, units, units_window;
    uint64_t checked, check_cpu_ns;
    uint64_t rows_window, values_window, bytes_window, empty_window;
    uint64_t slowest_ns; /* greatest sum of service times of one worker in the window */
};

struct tally *tallies_new(uint32_t count); /* NULL: out of memory */
void tallies_free(struct tally *tallies, uint32_t count);

void tally_add(const struct tally *tally, struct tally_sums *sums);

void tally_answer(struct tally *tally, const struct answer *answer, bool is_empty, bool in_window);

#endif
