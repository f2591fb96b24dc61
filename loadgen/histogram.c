/* See histogram.h. */
#include "histogram.h"

#include <math.h>
#include <stdlib.h>

int histogram_init(struct histogram *h, uint32_t digits)
{
    uint64_t unit = 2, edge;
    for (uint32_t i = 0; i < digits; i++)
        unit *= 10;
    *h = (struct histogram){.digits = digits, .bucket_count = 1};
    while ((2ull << h->half_shift) < unit)
        h->half_shift++;
    for (edge = 2ull << h->half_shift; edge <= HISTOGRAM_HIGHEST_NS; edge *= 2)
        h->bucket_count++;
    h->length = (h->bucket_count + 1) << h->half_shift;
    h->counts = calloc(h->length, sizeof *h->counts);
    histogram_clear(h);
    return h->counts ? 0 : -1;
}

void histogram_free(struct histogram *h)
{
    free(h->counts);
}

void histogram_clear(struct histogram *h)
{
    for (uint32_t i = 0; h->counts && i < h->length; i++)
        if (counter_get(&h->counts[i]))
            counter_set(&h->counts[i], 0);
    counter_set(&h->total, 0);
    counter_set(&h->sum_ns, 0);
    counter_set(&h->least_ns, UINT64_MAX);
    counter_set(&h->most_ns, 0);
}

static uint64_t highest_at(const struct histogram *h, uint32_t index)
{
    const uint32_t half = 1u << h->half_shift;
    uint32_t bucket = index >> h->half_shift;
    if (bucket > 0)
        bucket--;
    const uint64_t part = index - (bucket ? bucket * half : 0);
    return ((part + 1) << bucket) - 1;
}

void histogram_add(struct histogram *to, const struct histogram *from)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < to->length; i++) {
        const uint64_t count = counter_get(&from->counts[i]);
        if (count)
            counter_add(&to->counts[i], count);
        total += count;
    }
    counter_add(&to->total, total); /* sum of the counts, also while `from` is written */
    counter_add(&to->sum_ns, counter_get(&from->sum_ns));
    if (counter_get(&from->least_ns) < counter_get(&to->least_ns))
        counter_set(&to->least_ns, counter_get(&from->least_ns));
    if (counter_get(&from->most_ns) > counter_get(&to->most_ns))
        counter_set(&to->most_ns, counter_get(&from->most_ns));
}

void histogram_since(struct histogram *h, struct histogram *earlier)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < h->length; i++) {
        const uint64_t now = counter_get(&h->counts[i]), then = counter_get(&earlier->counts[i]);
        if (now != then) {
            counter_set(&h->counts[i], now - then);
            counter_set(&earlier->counts[i], now);
        } else if (now) {
            counter_set(&h->counts[i], 0);
        }
        total += now - then;
    }
    counter_set(&h->total, total);
}

static uint32_t reach(const struct histogram *h, uint64_t wanted)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < h->length; i++) {
        seen += counter_get(&h->counts[i]);
        if (seen >= wanted)
            return i;
    }
    return h->length - 1;
}

bool histogram_quantile(const struct histogram *h, double q, uint64_t *value_ns)
{
    const uint64_t total = counter_get(&h->total);
    if (total == 0 || (double)total * (1 - q) < 10 - 1e-6)
        return false;
    const uint64_t wanted = (uint64_t)(q * (double)total + 0.5);
    *value_ns = highest_at(h, reach(h, wanted ? wanted : 1));
    return true;
}

uint64_t histogram_highest_ns(const struct histogram *h)
{
    const uint64_t total = counter_get(&h->total);
    return total ? highest_at(h, reach(h, total)) : 0;
}
