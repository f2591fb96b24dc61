/* A histogram of ns with a fixed relative error (High Dynamic Range): buckets double in width and
 * have equal parts. One thread writes by relaxed stores; another may read. */
#ifndef SCALE_HISTOGRAM_H
#define SCALE_HISTOGRAM_H

#include <stdbool.h>

#include "counters.h"

#define HISTOGRAM_HIGHEST_NS 3600000000000ull /* an hour, as which longer times count */

struct histogram {
    uint32_t digits; /* significant decimal digits kept */
    uint32_t half_shift; /* log2 of half the parts of a bucket */
    uint32_t bucket_count;
    uint32_t length; /* counts */
    counter *counts;
    counter total, sum_ns, least_ns, most_ns; /* exact */
};

int histogram_init(struct histogram *h, uint32_t digits); /* digits 1..4; -1: memory is short */
void histogram_free(struct histogram *h);

/* Values below 2^(half_shift+1) count each; above, bucket b has [2^(half_shift+b),
 * 2^(half_shift+b+1)) in 2^half_shift parts. */
static inline uint32_t histogram_index(const struct histogram *h, uint64_t value_ns)
{
    const uint64_t mask = (2ull << h->half_shift) - 1;
    const uint32_t bucket = 63u - (uint32_t)__builtin_clzll(value_ns | mask) - h->half_shift;
    return (bucket << h->half_shift) + (uint32_t)(value_ns >> bucket);
}

static inline void histogram_record_times(struct histogram *h, uint64_t value_ns, uint64_t times)
{
    const uint64_t value = value_ns < HISTOGRAM_HIGHEST_NS ? value_ns : HISTOGRAM_HIGHEST_NS;
    counter_add(&h->counts[histogram_index(h, value)], times);
    counter_add(&h->total, times);
    counter_add(&h->sum_ns, value * times);
    if (value < counter_get(&h->least_ns))
        counter_set(&h->least_ns, value);
    if (value > counter_get(&h->most_ns))
        counter_set(&h->most_ns, value);
}

static inline void histogram_record(struct histogram *h, uint64_t value_ns)
{
    histogram_record_times(h, value_ns, 1);
}

/* Adds `from`, which has equal digits. */
void histogram_add(struct histogram *to, const struct histogram *from);

/* Takes `earlier` out of `h`, and makes `earlier` what `h` was. */
void histogram_since(struct histogram *h, struct histogram *earlier);
void histogram_clear(struct histogram *h);

/* Highest value equal to the q-quantile; false for fewer samples than 10/(1-q). */
bool histogram_quantile(const struct histogram *h, double q, uint64_t *value_ns);
uint64_t histogram_highest_ns(const struct histogram *h);

/* HdrHistogram's V2, as zlib in base64; NULL when memory is short. */
char *histogram_encode(const struct histogram *h);

#endif
