/* See worker.h. */
#include "worker.h"

#include <stdlib.h>
#include <unistd.h>

#include "asking.h"
#include "clock.h"
#include "counting.h"
#include "kept.h"
#include "waiting.h"
#include "window.h"

enum { RETRY_PAUSE_NS = 10000000 };

#define PATIENCE_NS 20000000000ull /* long enough for a restart of the server */

/* The first workers get the remainder. */
static uint64_t requests_of(const struct spec *spec, uint32_t number)
{
    const uint64_t all = spec->requests, workers = spec->workers_total;
    return all ? all / workers + (number < all % workers) : UINT64_MAX;
}

int worker_init(struct worker *w, struct load *load, uint32_t number, const struct share *share)
{
    const struct spec *spec = load->spec;
    const uint32_t first = (uint32_t)spec->partial_from;
    const uint32_t count = spec_column_count(spec, load->schema->column_count);
    w->load = load;
    w->number = number;
    w->share = share;
    w->requests_most = requests_of(spec, number);
    w->partition_rows = calloc(spec->partitions + 16, sizeof *w->partition_rows);
    w->tallies = tallies_new(load->operations->count);
    pacing_init(&w->pacing, spec, number, operations_units(load->operations, spec),
                load->operations->has_ask ? 1 / (double)spec->workers_total
                                          : (double)share->count / (double)spec->tables);
    turn_init(&w->turn, load->turns, spec, load->operations->count, number);
    if (!w->partition_rows || !w->tallies || histogram_init(&w->recent, 2) ||
        histogram_init(&w->recent_service, 2) || histogram_init(&w->late, TALLY_DIGITS) ||
        cursor_init(&w->cursor, spec, share) || values_init(&w->maker, spec, load->schema))
        return -1;
    if (spec->first_row)
        w->newest_row = cursor_newest(&w->cursor);
    return batch_init(&w->batch, load->schema, (uint32_t)spec->rows_per_request,
                      w->cursor.slices_max, first, count, batch_has_nulls(spec, load->schema));
}

void worker_free(struct worker *w)
{
    if (w->connection)
        w->load->ops->disconnect(w->connection);
    kept_close(w);
    content_free(&w->asking.content);
    batch_free(&w->batch);
    values_free(&w->maker);
    cursor_free(&w->cursor);
    histogram_free(&w->recent);
    histogram_free(&w->recent_service);
    histogram_free(&w->late);
    tallies_free(w->tallies, w->load->operations->count);
    free(w->partition_rows);
}

static void note_newest(struct worker *w)
{
    const struct slice *last = &w->batch.slices[w->batch.slice_count - 1];
    const uint64_t row = last->first_row + last->rows - 1;
    w->newest_row = row > w->newest_row ? row : w->newest_row;
}

/* False: all rows are sent. */
static bool make(struct worker *w, uint64_t *now_ns)
{
    const struct operations *operations = w->load->operations;
    const uint64_t before = *now_ns;
    if (counter_get(&w->counters.requests) >= w->requests_most)
        return false;
    if (w->load->spec->rounds) {
        if (!turn_next(&w->turn, w->load->turns, w->load->spec, operations->count))
            return false;
        w->operation = w->turn.operation;
    } else if (operations->has_ask) {
        w->hash = ask_hash(w->load->spec, w->number, counter_get(&w->counters.requests));
        w->operation = operations_pick(operations, w->hash);
    }
    if (operations->list[w->operation].ask) {
        asking_draw(w, before);
    } else {
        if (!cursor_next(&w->cursor, &w->batch))
            return false;
        values_make(&w->maker, &w->batch);
        note_newest(w);
    }
    *now_ns = clock_now_ns();
    counter_add(&w->counters.make_ns, *now_ns - before);
    return true;
}

/* End of requests in flight after the window. */
static uint64_t drain_end(const struct load *load)
{
    const uint64_t end = window_end(load);
    return end < NS_NEVER - load->drain_ns ? end + load->drain_ns : NS_NEVER;
}

/* Not beyond the drain. A request without a deadline gets none: what hangs is left behind. */
static uint64_t request_deadline(const struct load *load, uint64_t sent_ns)
{
    if (!load->request_timeout_ns)
        return 0;
    const uint64_t own = sent_ns + load->request_timeout_ns, drain = drain_end(load);
    return own < drain ? own : drain;
}

/* Makes one attempt; *ack_ns: when the driver returned. */
static enum outcome attempt(struct worker *w, uint64_t sent_ns, uint64_t *rows, uint64_t *ack_ns)
{
    *rows = 0;
    counter_set(&w->counters.is_in_flight, 1);
    const uint64_t deadline_ns = request_deadline(w->load, sent_ns);
    const enum outcome outcome =
        worker_asks(w) ? asking_ask(w, deadline_ns)
                       : w->load->ops->send(w->connection, &w->batch, deadline_ns, rows, &w->fault);
    *ack_ns = clock_now_ns();
    counter_set(&w->counters.is_in_flight, 0);
    counter_add(&w->counters.send_ns, *ack_ns - sent_ns);
    if (outcome != OUTCOME_OK)
        counting_error(w);
    return outcome;
}

/* As often as the spec says, and after a transient fault until PATIENCE_NS have passed. */
static bool may_retry(const struct worker *w, uint64_t i, uint64_t sent_ns, uint64_t now_ns)
{
    if (worker_stopped(w) || now_ns + i * RETRY_PAUSE_NS >= drain_end(w->load))
        return false;
    return i <= w->load->spec->retries || (w->fault.is_transient && now_ns - sent_ns < PATIENCE_NS);
}

static void stop_all(struct worker *w, uint64_t now_ns)
{
    uint64_t none = 0;
    w->ending = ENDING_FATAL;
    atomic_compare_exchange_strong(&w->load->fatal_ns, &none, now_ns);
    atomic_store_explicit(&w->load->stop, true, memory_order_relaxed);
}

/* Again if it may be retried. `*now_ns`: in: when it is sent, out: when it is answered. */
static void deliver(struct worker *w, uint64_t *now_ns, uint64_t intended_ns)
{
    const uint64_t sent_ns = *now_ns;
    uint64_t rows = 0;
    counter_add(&w->counters.requests, 1);
    counter_add(&counting_tally(w)->requests, 1);
    if (!worker_asks(w))
        counter_add(&w->counters.rows_sent, w->batch.rows);
    enum outcome outcome = attempt(w, sent_ns, &rows, now_ns);
    for (uint64_t i = 1; outcome == OUTCOME_ERROR && may_retry(w, i, sent_ns, *now_ns); i++) {
        const uint64_t again = waiting_until(w, *now_ns + i * RETRY_PAUSE_NS);
        counter_add(&w->counters.retries, 1);
        counter_add(&counting_tally(w)->retries, 1);
        outcome = attempt(w, again, &rows, now_ns);
    }
    if (outcome == OUTCOME_OK && worker_asks(w) && w->asking.answer.is_end) {
        w->ending = ENDING_ROWS;
        return;
    }
    trace_take(w, outcome, rows, sent_ns, intended_ns, *now_ns);
    if (outcome == OUTCOME_OK) {
        if (rows < w->batch.rows && rows > 0 && w->maker.disorder.is_repeating)
            rows = w->batch.rows; /* some databases count rows with the same time once */
        rows = rows < w->batch.rows ? rows : w->batch.rows;
        counting_answer(w, rows, sent_ns, intended_ns, *now_ns);
        if (!worker_asks(w) && rows < w->batch.rows) {
            fault_set(&w->fault, FAULT_SERVER, "SHORT_ACK",
                      "the server acknowledged %llu of %u rows", (unsigned long long)rows,
                      w->batch.rows);
            counting_error(w);
            counting_failure(w, w->batch.rows - rows);
        }
        return;
    }
    if (!w->fault.is_late) /* otherwise they are unanswered: neither acknowledged nor failed */
        counting_failure(w, w->batch.rows);
    if (outcome == OUTCOME_FATAL || (w->fault.is_transient && !worker_stopped(w)))
        stop_all(w, *now_ns);
}

/* Outside the request's time; false: the statement failed. */
static bool run_before(struct worker *w, uint64_t *now_ns, uint64_t *intended_ns)
{
    const struct ask *ask = w->load->operations->list[w->operation].ask;
    if (!ask || !ask->before)
        return true;
    const bool ok = kept_run(w, ask->before) == OUTCOME_OK;
    *now_ns = clock_now_ns();
    if (!pacing_is_open(&w->pacing))
        *intended_ns = *now_ns;
    if (!ok) {
        counting_error(w);
        stop_all(w, *now_ns);
    }
    return ok;
}

/* `made`: the first request is ready before the start. */
static void load_loop(struct worker *w, bool made)
{
    uint64_t now_ns = waiting_until(w, w->load->start_ns), intended_ns = 0;
    const uint64_t behind_ns = (uint64_t)(w->load->spec->behind_s * 1e9);
    counter_set(&w->pacing.origin_ns, w->load->start_ns - behind_ns);
    w->free_ns = w->load->start_ns;
    while (made && waiting_turn(w, &now_ns, &intended_ns) && run_before(w, &now_ns, &intended_ns)) {
        deliver(w, &now_ns, intended_ns);
        w->free_ns = now_ns;
        made = w->ending == ENDING_NONE && make(w, &now_ns);
    }
    if (made && !worker_asks(w)) /* its turn did not come */
        cursor_take_back(&w->cursor, &w->batch);
    if (w->ending == ENDING_NONE)
        w->ending = ENDING_ROWS;
    if (w->ending != ENDING_WINDOW) /* else what was owed when the window ended remains */
        counter_set(&w->counters.waiting_since_ns, NS_NEVER);
}

static enum outcome connect_and_prepare(struct worker *w)
{
    const struct load *load = w->load;
    enum outcome outcome = load->ops->connect(load->driver, w->number, &w->connection, &w->fault);
    if (outcome == OUTCOME_OK && load->operations->has_ask &&
        (outcome = asking_prepare(w)) != OUTCOME_OK) {
        load->ops->disconnect(w->connection);
        w->connection = NULL;
    }
    return outcome;
}

void *worker_main(void *argument)
{
    struct worker *w = argument;
    struct load *load = w->load;
    const uint64_t one = 1;
    uint64_t now_ns = clock_now_ns();
    clock_precise_sleep();
    counter_set(&w->counters.waiting_since_ns, NS_NEVER);
    const enum outcome outcome = connect_and_prepare(w);
    const bool made = outcome == OUTCOME_OK && make(w, &now_ns);
    if (gate_arrive(&load->gate, outcome == OUTCOME_OK))
        load_loop(w, made);
    counter_set(&w->counters.cpu_ns, clock_thread_cpu_ns());
    counter_publish(&w->counters.done, 1);
    if (write(load->done_fd, &one, sizeof one) != sizeof one)
        abort();
    return NULL;
}
