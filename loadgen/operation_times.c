/* See operation_times.h. */
#include "operation_times.h"

#include <stdlib.h>

#define P99_REQUESTS_MIN 1000 /* as many as histogram_quantile needs */

void operation_times_init(struct operation_times *times, uint32_t operations)
{
    bool failed = operations > 1 && histogram_init(&times->sum, TALLY_DIGITS) != 0;
    for (uint32_t i = 0; operations > 1 && i < operations; i++)
        failed |= histogram_init(&times->before[i], TALLY_DIGITS) != 0;
    if (failed)
        abort();
}

void operation_times_free(struct operation_times *times)
{
    histogram_free(&times->sum);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        histogram_free(&times->before[i]);
}

uint64_t operation_times_p99(struct operation_times *times, const struct load *load,
                             const struct worker *workers, uint32_t operation)
{
    uint64_t p99_ns = 0;
    if (!times->sum.counts)
        return 0;
    histogram_clear(&times->sum);
    for (uint64_t i = 0; i < load->spec->threads; i++)
        histogram_add(&times->sum, &workers[i].tallies[operation].response);
    const uint64_t answered = counter_get(&times->sum.total);
    if (answered - times->answered_before[operation] < P99_REQUESTS_MIN)
        return 0;
    times->answered_before[operation] = answered;
    histogram_since(&times->sum, &times->before[operation]);
    return histogram_quantile(&times->sum, 0.99, &p99_ns) ? p99_ns : 0;
}
