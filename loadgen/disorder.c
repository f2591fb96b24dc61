/* See disorder.h. */
#include "disorder.h"

#include <math.h>
#include <stdlib.h>

#include "chance.h"

enum { STREAM_TIME = 3 << 16 }; /* as in values.c: a load has one mode */

/* Above LAMBDA_PLAIN the delays are those of BASIC_LAMBDA, stretched so that the last of
 * BASIC_COUNT is max_k, as in IoT-benchmark, whose keys LAMBDA and MAX_K these are. */
enum { LAMBDA_PLAIN = 500, BASIC_LAMBDA = 10, BASIC_COUNT = 25 };

static uint32_t stretched(uint32_t delay, double lambda, double max_k)
{
    const double step = delay <= BASIC_LAMBDA ? lambda / BASIC_LAMBDA
                                              : (max_k - lambda) / (BASIC_COUNT - BASIC_LAMBDA);
    return (uint32_t)fmax(0, lambda + ((double)delay - BASIC_LAMBDA) * step);
}

/* Delay k + 1 has the chance of k in a Poisson distribution; the last one has all that is left. */
static void read_delays(struct disorder *d, double lambda, uint64_t max_k)
{
    const bool is_plain = lambda < LAMBDA_PLAIN;
    const double mean = is_plain ? lambda : BASIC_LAMBDA;
    const uint64_t most = is_plain ? max_k : BASIC_COUNT;
    double chance = exp(-mean), sum = 0;
    d->delay_count = (uint32_t)(most < DELAYS_MAX ? most : DELAYS_MAX);
    for (uint32_t k = 0; k < d->delay_count; k++) {
        sum += chance;
        chance *= mean / (k + 1);
        d->delays[k] = is_plain ? k + 1 : stretched(k + 1, lambda, (double)max_k);
        d->limits[k] = (uint32_t)fmin(sum * 4294967296.0, 4294967295.0);
    }
}

void disorder_init(struct disorder *d, const struct spec *spec)
{
    *d = (struct disorder){.first = spec->rows_present};
    d->is_placed = spec->disorder_ratio > 0 && spec->disorder_mode != DISORDER_SWAP;
    if (!d->is_placed)
        return;
    d->threshold = (uint32_t)fmin(spec->disorder_ratio / 100 * 4294967296.0, 4294967295.0);
    if (spec->disorder_mode == DISORDER_BATCH) {
        d->batch = spec->disorder_rows;
        d->shift = (uint64_t)((double)d->batch * spec->disorder_ratio / 100);
    } else {
        d->is_repeating = true;
        read_delays(d, spec->disorder_lambda, spec->disorder_max_k);
    }
}

static uint32_t delay_of(const struct disorder *d, uint32_t chance)
{
    uint32_t low = 0, high = d->delay_count - 1;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (chance < d->limits[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return d->delays[low];
}

uint64_t disorder_place(const struct disorder *d, uint64_t table_hash, uint64_t row)
{
    if (row < d->first)
        return row;
    const uint64_t number = row - d->first;
    if (d->batch)
        return d->first + number - number % d->batch + (number % d->batch + d->shift) % d->batch;
    const uint64_t chance = chance_of(chance_of(table_hash, STREAM_TIME), row);
    if ((uint32_t)chance >= d->threshold)
        return row;
    const uint32_t delay = delay_of(d, (uint32_t)(chance >> 32));
    return delay <= number ? row - delay : row;
}

bool disorder_distinct(const struct disorder *d, uint64_t table_hash, uint64_t end,
                       uint64_t *places)
{
    const uint64_t rows = end > d->first ? end - d->first : 0;
    *places = rows;
    if (!d->is_repeating || rows == 0)
        return true;
    uint8_t *taken = calloc(rows / 8 + 1, 1);
    if (!taken)
        return false;
    *places = 0;
    for (uint64_t row = d->first; row < end; row++) {
        const uint64_t place = disorder_place(d, table_hash, row) - d->first;
        const uint8_t bit = (uint8_t)(1u << (place & 7));
        *places += !(taken[place >> 3] & bit);
        taken[place >> 3] |= bit;
    }
    free(taken);
    return true;
}
