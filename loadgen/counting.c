/* See counting.h. */
#include "counting.h"

#include "asking.h"
#include "window.h"

static void count_acked(struct worker *w, uint64_t rows, bool in_window)
{
    const uint32_t *const partition_of = w->load->partition_of;
    const struct slice *const slices = w->batch.slices;
    const uint32_t count = w->batch.slice_count;
    uint32_t partition = count ? partition_of[slices[0].table] : 0;
    uint64_t sum = 0; /* rows of successive slices of one partition */
    counter_add(&w->counters.rows_acked, rows);
    if (in_window)
        counter_add(&w->counters.rows_window, rows);
    for (uint32_t i = 0; i < count && rows > 0; i++) {
        const uint32_t here = partition_of[slices[i].table];
        const uint64_t part = slices[i].rows < rows ? slices[i].rows : rows;
        if (here != partition) {
            counter_add(&w->partition_rows[partition], sum);
            partition = here;
            sum = 0;
        }
        sum += part;
        rows -= part;
    }
    if (count)
        counter_add(&w->partition_rows[partition], sum);
}

void counting_failure(struct worker *w, uint64_t rows)
{
    counter_add(&counting_tally(w)->failed, 1);
    if (!worker_asks(w))
        counter_add(&w->counters.rows_failed, rows);
    if (counter_get(&w->counters.errors) >= w->load->spec->max_errors)
        w->ending = ENDING_ERRORS;
}

void counting_error(struct worker *w)
{
    counter_add(&w->counters.errors, 1);
    counter_add(&counting_tally(w)->errors, 1);
    faults_note(&w->load->faults, &w->fault, w->number);
}

static void record(struct worker *w, uint64_t response_ns, uint64_t service_ns, bool in_window)
{
    histogram_record(&w->recent, response_ns);
    histogram_record(&w->recent_service, service_ns);
    if (in_window) {
        histogram_record(&counting_tally(w)->response, response_ns);
        histogram_record(&counting_tally(w)->service, service_ns);
        if (pacing_is_open(&w->pacing))
            histogram_record(&w->late, w->late_ns);
    }
}

static uint64_t written_ns(const struct load *load, int64_t newest_ns, uint64_t now_ns)
{
    const int64_t written = newest_ns - load->wall_ahead_ns;
    return written < 0 ? 0 : (uint64_t)written < now_ns ? (uint64_t)written : now_ns;
}

void counting_answer(struct worker *w, uint64_t rows, uint64_t sent_ns, uint64_t intended_ns,
                     uint64_t now_ns)
{
    const struct load *load = w->load;
    const bool in_window = now_ns >= window_start(load) && now_ns <= window_end(load);
    if (worker_asks(w)) {
        asking_report(w, sent_ns, now_ns, in_window);
        const struct answer *answer = &w->asking.answer;
        const bool is_empty = ask_is_empty(load->operations->list[w->operation].ask, answer);
        tally_answer(counting_tally(w), answer, is_empty, in_window);
    } else {
        count_acked(w, rows, in_window);
        counter_add(&counting_tally(w)->units, rows);
        counter_add(&counting_tally(w)->units_window, in_window ? rows : 0);
    }
    if (worker_asks(w) && w->asking.answer.newest_ns)
        intended_ns = written_ns(load, w->asking.answer.newest_ns, now_ns);
    counter_add(&counting_tally(w)->answered, 1);
    counter_add(&counting_tally(w)->answered_window, in_window);
    counter_set(&w->counters.last_ack_ns, now_ns);
    if (load->is_unanswered)
        return;
    record(w, now_ns - intended_ns, now_ns - sent_ns, in_window);
    if (pacing_is_open(&w->pacing) && now_ns > window_end(load) &&
        intended_ns < window_end(load)) { /* the request was due in the window */
        histogram_record(&counting_tally(w)->response, now_ns - intended_ns);
        counter_add(&w->counters.answered_late, 1);
    }
}
