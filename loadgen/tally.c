/* See tally.h. */
#include "tally.h"

#include <stdlib.h>

struct tally *tallies_new(uint32_t count)
{
    struct tally *tallies = aligned_alloc(_Alignof(struct tally), count * sizeof *tallies);
    bool ok = tallies != NULL;
    for (uint32_t i = 0; tallies && i < count; i++)
        tallies[i] = (struct tally){.requests = 0};
    for (uint32_t i = 0; ok && i < count; i++)
        ok = histogram_init(&tallies[i].response, TALLY_DIGITS) == 0 &&
             histogram_init(&tallies[i].service, TALLY_DIGITS) == 0;
    if (ok)
        return tallies;
    tallies_free(tallies, count);
    return NULL;
}

void tallies_free(struct tally *tallies, uint32_t count)
{
    for (uint32_t i = 0; tallies && i < count; i++) {
        histogram_free(&tallies[i].response);
        histogram_free(&tallies[i].service);
    }
    free(tallies);
}

void tally_add(const struct tally *t, struct tally_sums *sums)
{
    sums->requests += counter_get(&t->requests);
    sums->answered += counter_get(&t->answered);
    sums->answered_window += counter_get(&t->answered_window);
    sums->failed += counter_get(&t->failed);
    sums->errors += counter_get(&t->errors);
    sums->retries += counter_get(&t->retries);
    sums->units += counter_get(&t->units);
    sums->units_window += counter_get(&t->units_window);
    sums->checked += counter_get(&t->checked);
    sums->check_cpu_ns += counter_get(&t->check_cpu_ns);
    sums->rows_window += counter_get(&t->rows_window);
    sums->values_window += counter_get(&t->values_window);
    sums->bytes_window += counter_get(&t->bytes_window);
    const uint64_t service_ns = counter_get(&t->service.sum_ns);
    sums->slowest_ns = sums->slowest_ns > service_ns ? sums->slowest_ns : service_ns;
    sums->empty_window += counter_get(&t->empty_window);
}

void tally_answer(struct tally *t, const struct answer *answer, bool is_empty, bool in_window)
{
    counter_add(&t->units, 1);
    if (!in_window)
        return;
    counter_add(&t->units_window, 1);
    counter_add(&t->rows_window, answer->rows);
    counter_add(&t->values_window, answer->values);
    counter_add(&t->bytes_window, answer->bytes);
    counter_add(&t->empty_window, is_empty);
}
