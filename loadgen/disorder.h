/* The order in which rows come: the keys `disorder*`. With `poisson` and `batch` a row takes
 * another one's place, time and values. (`swap` moves times only: values.c.) */
#ifndef SCALE_DISORDER_H
#define SCALE_DISORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "spec.h"

enum { DELAYS_MAX = 2048 };

struct disorder {
    bool is_placed;     /* rows take places of others */
    bool is_repeating;  /* and two rows may take the same one */
    uint32_t threshold; /* late rows, in units of 1 / 2^32 */
    uint64_t first;     /* the first row that may move */
    uint64_t batch, shift; /* rows of a batch, and its turn; 0: no batches */
    uint32_t delay_count;
    uint32_t limits[DELAYS_MAX]; /* in 1 / 2^32: a delay is the first whose limit is above */
    uint32_t delays[DELAYS_MAX]; /* in rows */
};

void disorder_init(struct disorder *disorder, const struct spec *spec);

/* A pure function of the table's hash and the row. */
uint64_t disorder_place(const struct disorder *disorder, uint64_t table_hash, uint64_t row);

/* Different places of rows first .. end - 1; false: memory is short. */
bool disorder_distinct(const struct disorder *disorder, uint64_t table_hash, uint64_t end,
                       uint64_t *places);

#endif
