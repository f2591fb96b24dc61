/* What was due and unanswered; see overdue.h. */
#include "overdue.h"

#include "clock.h"

enum { RECORDS_MAX = 1000000 }; /* of one worker: beyond, one record stands for several */

/* All requests due from `since_ns` on, one every `gap_ns`. */
static uint64_t add_evenly(struct histogram *response, double gap_ns, uint64_t since_ns,
                           uint64_t end_ns)
{
    const uint64_t count = (uint64_t)((double)(end_ns - since_ns) / gap_ns) + 1;
    const uint64_t weight = count / RECORDS_MAX + 1;
    uint64_t added = 0;
    for (; added < count; added += weight) {
        const uint64_t late = (uint64_t)((double)added * gap_ns);
        const uint64_t times = count - added < weight ? count - added : weight;
        if (late < end_ns - since_ns)
            histogram_record_times(response, end_ns - since_ns - late, times);
    }
    return count;
}

/* As the worker would have drawn them. */
static uint64_t add_drawn(struct histogram *response, struct pacing pacing, uint32_t rows,
                          uint64_t end_ns)
{
    uint64_t count = 0;
    for (uint64_t due = pacing_next_ns(&pacing, rows); due < end_ns;
         due = pacing_next_ns(&pacing, rows), count++)
        histogram_record_times(response, end_ns - due, 1);
    return count;
}

void overdue_add(struct overdue *overdue, struct histogram *response, const struct worker *w,
                 uint64_t end_ns)
{
    const uint64_t since_ns = counter_get(&w->counters.waiting_since_ns);
    const uint64_t late = counter_get(&w->counters.answered_late);
    const uint32_t rows = (uint32_t)w->load->spec->rows_per_request;
    const double gap_ns = (double)rows / w->pacing.rows_per_ns;
    overdue->in_flight += late; /* its time is recorded when its answer came */
    if (!pacing_is_open(&w->pacing) || since_ns >= end_ns)
        return;
    const bool is_sent = counter_get(&w->counters.is_in_flight);
    const bool is_short = (double)(end_ns - since_ns) / gap_ns < RECORDS_MAX;
    overdue->in_flight += is_sent;
    overdue->unsent += !is_sent;
    if (!is_short) {
        overdue->unsent += add_evenly(response, gap_ns, since_ns, end_ns) - 1;
        return;
    }
    histogram_record_times(response, end_ns - since_ns, 1);
    overdue->unsent += add_drawn(response, pacing_copy(&w->pacing), rows, end_ns);
}
