/* A histogram of nanoseconds with a fixed relative error (High Dynamic Range): counts in
 * buckets that double in width, each of them cut into equal parts. One thread writes, by
 * relaxed stores; another may read at the same time. It grows never and allocates once. */
#ifndef SCALE_HISTOGRAM_H
#define SCALE_HISTOGRAM_H

#include <stdbool.h>

#include "counters.h"

#define HISTOGRAM_HIGHEST_NS 3600000000000ull /* an hour; what is longer counts as an hour */

struct histogram {
    uint32_t digits;         /* significant decimal digits kept */
    uint32_t half_shift;     /* log2 of half the parts of a bucket */
    uint32_t bucket_count;
    uint32_t length;         /* counts */
    counter *counts;
    counter total, sum_ns, least_ns, most_ns; /* exact */
};

int histogram_init(struct histogram *h, uint32_t digits); /* digits 1..4; -1: memory is short */
void histogram_free(struct histogram *h);
void histogram_record(struct histogram *h, uint64_t value_ns);
void histogram_record_times(struct histogram *h, uint64_t value_ns, uint64_t times);

/* Adds `from`, which has equal digits. */
void histogram_add(struct histogram *to, const struct histogram *from);

/* Takes `earlier` out of `h`, and makes `earlier` what `h` was: an interval's own histogram. */
void histogram_since(struct histogram *h, struct histogram *earlier);
void histogram_clear(struct histogram *h);

/* Highest value that counts as equal to the q-quantile; false when there are fewer samples
 * than 10/(1-q), too few to say. */
bool histogram_quantile(const struct histogram *h, double q, uint64_t *value_ns);
uint64_t histogram_highest_ns(const struct histogram *h);

/* The V2 encoding of HdrHistogram, as a zlib stream, in base64; NULL when memory is short. */
char *histogram_encode(const struct histogram *h);

#endif
