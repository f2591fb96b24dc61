/* See overdue.h. */
#include "overdue.h"

#include "clock.h"

enum { RECORDS_MAX = 1000000 }; /* records of one worker; beyond, one stands for several */

/* Response times for the n-th request after the worker's last one. */
static struct histogram *of_request(struct histogram *response, const struct worker *w, uint64_t n)
{
    const struct operations *operations = w->load->operations;
    const uint64_t begun = counter_get(&w->counters.requests);
    const uint64_t first = begun - (begun && counter_get(&w->counters.is_in_flight));
    if (operations->count == 1)
        return response;
    return &response[operations_pick(operations, ask_hash(w->load->spec, w->number, first + n))];
}

static uint64_t add_evenly(struct histogram *response, const struct worker *w, double gap_ns,
                           uint64_t since_ns, uint64_t end_ns)
{
    const uint64_t count = (uint64_t)((double)(end_ns - since_ns) / gap_ns) + 1;
    const uint64_t weight = count / RECORDS_MAX + 1;
    uint64_t added = 0;
    for (; added < count; added += weight) {
        const uint64_t late = (uint64_t)((double)added * gap_ns);
        const uint64_t times = count - added < weight ? count - added : weight;
        if (late < end_ns - since_ns)
            histogram_record_times(of_request(response, w, added), end_ns - since_ns - late, times);
    }
    return count;
}

static uint64_t add_drawn(struct histogram *response, const struct worker *w, uint32_t units,
                          uint64_t end_ns)
{
    struct pacing pacing = pacing_copy(&w->pacing);
    uint64_t count = 0;
    for (uint64_t due = pacing_next_ns(&pacing, units); due < end_ns;
         due = pacing_next_ns(&pacing, units), count++)
        histogram_record_times(of_request(response, w, count + 1), end_ns - due, 1);
    return count;
}

void overdue_add(struct overdue *overdue, struct histogram *response, const struct worker *w,
                 uint64_t end_ns)
{
    const uint64_t since_ns = counter_get(&w->counters.waiting_since_ns);
    const uint64_t late = counter_get(&w->counters.answered_late);
    const uint32_t units = operations_units(w->load->operations, w->load->spec);
    const double gap_ns = (double)units / w->pacing.units_per_ns;
    overdue->in_flight += late; /* its time was recorded with its answer */
    if (!pacing_is_open(&w->pacing) || since_ns >= end_ns)
        return;
    const bool is_sent = counter_get(&w->counters.is_in_flight);
    const bool is_short = (double)(end_ns - since_ns) / gap_ns < RECORDS_MAX;
    overdue->in_flight += is_sent;
    overdue->unsent += !is_sent;
    if (!is_short) {
        overdue->unsent += add_evenly(response, w, gap_ns, since_ns, end_ns) - 1;
        return;
    }
    histogram_record_times(of_request(response, w, 0), end_ns - since_ns, 1);
    overdue->unsent += add_drawn(response, w, units, end_ns);
}
