/* See summary.h. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "events.h"
#include "overdue.h"
#include "table_rows.h"

struct window {
    uint64_t start_ns, end_ns;
};

static bool any_ended(const struct load *load, const struct worker *workers, enum ending ending)
{
    for (uint64_t i = 0; i < load->spec->threads; i++)
        if (counter_seen(&workers[i].counters.done) && workers[i].ending == ending)
            return true;
    return false;
}

/* If all work ended before, the last answer. */
static struct window find_window(const struct load *load, const struct worker *workers,
                                 const struct report *report, const struct totals *totals)
{
    struct window window = {load->window_start_ns, load->window_end_ns};
    if (!report->window_over && !any_ended(load, workers, ENDING_WINDOW) &&
        totals->last_ack_ns < window.end_ns)
        window.end_ns = totals->last_ack_ns;
    if (window.end_ns < window.start_ns)
        window.end_ns = window.start_ns;
    return window;
}

static enum exitcode find_outcome(const struct load *load, const struct worker *workers,
                                  const struct report *report, const struct totals *totals,
                                  const char **outcome)
{
    if (any_ended(load, workers, ENDING_FATAL)) {
        *outcome = "fatal";
        return EXIT_FATAL;
    }
    if (report->abandoned && !report->interrupted) {
        *outcome = "fatal";
        return EXIT_FATAL;
    }
    if (report->interrupted) {
        *outcome = "interrupted";
        return EXIT_INTERRUPTED;
    }
    if (totals->rows_failed > 0 || totals->requests_failed > 0 ||
        any_ended(load, workers, ENDING_ERRORS)) {
        *outcome = "errors";
        return EXIT_ERRORS;
    }
    *outcome = "ok";
    return EXIT_DONE;
}

static void put_answers(struct json *json, const struct load *load, const struct worker *worker)
{
    struct tally_sums sums = {0};
    for (uint32_t i = 0; i < load->operations->count; i++)
        if (load->operations->list[i].ask)
            tally_add(&worker->tallies[i], &sums);
    json_put_whole(json, "answers", sums.answered_window);
    json_put_whole(json, "rows_read", sums.rows_window);
}

static void put_workers(struct json *json, const struct load *load, const struct worker *workers,
                        const struct report *report)
{
    json_begin(json, "workers", '[');
    for (uint64_t i = 0; i < load->spec->threads; i++) {
        const struct counters *c = &workers[i].counters;
        json_open(json, '{');
        json_put_whole(json, "worker", workers[i].number);
        json_put_whole(json, "tables", workers[i].share->count);
        json_put_whole(json, "rows", counter_get(&c->rows_acked));
        json_put_whole(json, "requests", counter_get(&c->requests));
        put_answers(json, load, &workers[i]);
        json_put_real(json, "send_s", (double)counter_get(&c->send_ns) / 1e9);
        json_put_real(json, "make_s", (double)counter_get(&c->make_ns) / 1e9);
        json_put_real(json, "cpu_s",
                      report->measured
                          ? (double)(workers[i].cpu_end_ns - workers[i].cpu_start_ns) / 1e9
                          : NAN);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_partitions(struct json *json, const struct load *load, const struct worker *workers)
{
    json_begin(json, "partitions", '[');
    for (uint64_t p = 0; p < load->spec->partitions; p++) {
        uint64_t rows = 0;
        for (uint64_t i = 0; i < load->spec->threads; i++)
            rows += counter_get(&workers[i].partition_rows[p]);
        json_open(json, '{');
        json_put_whole(json, "partition", p);
        json_put_whole(json, "rows_acked", rows);
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Only if it loaded until the window ended. */
static bool has_overdue(const struct worker *w, const struct report *report)
{
    const bool is_done = counter_seen(&w->counters.done);
    return report->window_over && !report->interrupted && (!is_done || w->ending == ENDING_WINDOW);
}

struct times { /* by operation, and of all together */
    struct histogram response[OPERATIONS_MAX], service[OPERATIONS_MAX];
    struct histogram all_response, all_service, late;
};

static void times_init(struct times *times, uint32_t count)
{
    bool ok = histogram_init(&times->all_response, 3) == 0 &&
              histogram_init(&times->all_service, 3) == 0 && histogram_init(&times->late, 3) == 0;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = histogram_init(&times->response[i], 3) == 0 &&
             histogram_init(&times->service[i], 3) == 0;
    if (!ok)
        abort();
}

static void times_free(struct times *times, uint32_t count)
{
    histogram_free(&times->all_response);
    histogram_free(&times->all_service);
    histogram_free(&times->late);
    for (uint32_t i = 0; i < count; i++) {
        histogram_free(&times->response[i]);
        histogram_free(&times->service[i]);
    }
}

static void add_times(struct times *times, const struct load *load, const struct worker *workers,
                      const struct report *report, struct overdue *overdue)
{
    const uint32_t count = load->operations->count;
    for (uint64_t i = 0; i < load->spec->threads; i++) {
        for (uint32_t k = 0; k < count; k++) {
            histogram_add(&times->response[k], &workers[i].tallies[k].response);
            histogram_add(&times->service[k], &workers[i].tallies[k].service);
        }
        histogram_add(&times->late, &workers[i].late);
        if (has_overdue(&workers[i], report) && !load->is_unanswered)
            overdue_add(overdue, times->response, &workers[i], load->window_end_ns);
    }
    for (uint32_t k = 0; k < count; k++) {
        histogram_add(&times->all_response, &times->response[k]);
        histogram_add(&times->all_service, &times->service[k]);
    }
}

static void put_operations(struct json *json, const struct load *load, const struct worker *workers,
                           const struct times *times)
{
    json_begin(json, "operations", '[');
    for (uint32_t i = 0; i < load->operations->count; i++) {
        const struct operation *operation = &load->operations->list[i];
        struct tally_sums sums;
        totals_of_operation(workers, load->spec->threads, i, &sums);
        json_open(json, '{');
        json_put_text(json, "name", operation->name);
        json_put_text(json, "unit", operation->unit);
        json_put_whole(json, "weight", operation->weight);
        json_put_whole(json, "requests", sums.requests);
        json_put_whole(json, "requests_window", sums.answered_window);
        json_put_whole(json, "failed", sums.failed);
        json_put_whole(json, "errors", sums.errors);
        json_put_whole(json, "retries", sums.retries);
        json_put_whole(json, "units_acked", sums.units);
        json_put_whole(json, "units_window", sums.units_window);
        if (operation->ask) {
            json_put_whole(json, "rows_window", sums.rows_window);
            json_put_whole(json, "values_window", sums.values_window);
            json_put_whole(json, "bytes_window", sums.bytes_window);
            json_put_whole(json, "empty_window", sums.empty_window);
            json_put_real(json, "check_cpu_s", (double)sums.check_cpu_ns / 1e9);
        }
        json_put_real(json, "slowest_worker_s", (double)sums.slowest_ns / 1e9);
        event_put_histogram(json, "response", &times->response[i]);
        event_put_histogram(json, "service", &times->service[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_times(struct json *json, const struct load *load, const struct worker *workers,
                      const struct report *report)
{
    struct overdue overdue = {0};
    struct times times;
    times_init(&times, load->operations->count);
    add_times(&times, load, workers, report, &overdue);
    json_put_whole(json, "overdue", overdue.unsent);
    json_put_whole(json, "in_flight_at_end", overdue.in_flight);
    event_put_histogram(json, "response", &times.all_response);
    event_put_histogram(json, "service", &times.all_service);
    if (load->spec->rate > 0)
        event_put_histogram(json, "late", &times.late);
    else
        json_put_null(json, "late");
    put_operations(json, load, workers, &times);
    times_free(&times, load->operations->count);
}

/* In rows, or in requests if any operation asks; null for the other, and in a closed loop. */
static void put_offered(struct json *json, const struct load *load, const struct worker *workers)
{
    const bool has_ask = load->operations->has_ask;
    double units_per_ns = 0;
    for (uint64_t i = 0; i < load->spec->threads; i++)
        units_per_ns += workers[i].pacing.units_per_ns;
    const double offered = load->spec->rate > 0 ? units_per_ns * 1e9 : NAN;
    json_put_real(json, "offered_rows_per_s", has_ask ? NAN : offered);
    json_put_real(json, "offered_requests_per_s", has_ask ? offered : NAN);
}

/* Null if the load writes none, or a worker hangs. */
static void put_newest_row(struct json *json, const struct load *load, const struct worker *workers)
{
    bool known = load->operations->has_write;
    uint64_t newest = 0;
    for (uint64_t i = 0; known && i < load->spec->threads; i++) {
        known = counter_seen(&workers[i].counters.done);
        if (known && workers[i].newest_row > newest)
            newest = workers[i].newest_row;
    }
    json_put_known(json, "newest_row", known, newest);
}

static void put_numbers(struct json *json, const struct window *window, const struct totals *totals,
                        const struct report *report)
{
    const double window_s = (double)(window->end_ns - window->start_ns) / 1e9;
    const double cpu_window_s = (double)(report->cpu_end_ns - report->cpu_start_ns) / 1e9;
    double user_s, system_s;
    clock_process_usage_s(&user_s, &system_s);
    json_put_real(json, "window_s", window_s);
    json_put_whole(json, "window_start_ns", window->start_ns);
    json_put_whole(json, "window_end_ns", window->end_ns);
    json_put_whole(json, "rows_window", totals->rows_window);
    json_put_real(json, "rows_per_s", window_s > 0 ? (double)totals->rows_window / window_s : NAN);
    json_put_whole(json, "rows_acked", totals->rows_acked);
    json_put_whole(json, "rows_failed", totals->rows_failed);
    json_put_whole(json, "rows_unanswered", totals->rows_unanswered);
    json_put_whole(json, "requests", totals->requests);
    json_put_whole(json, "requests_window", totals->requests_window);
    json_put_real(json, "requests_per_s",
                  window_s > 0 ? (double)totals->requests_window / window_s : NAN);
    json_put_whole(json, "errors", totals->errors);
    json_put_whole(json, "retries", totals->retries);
    json_put_known(json, "last_ack_ns", totals->last_ack_ns != 0, totals->last_ack_ns);
    json_put_real(json, "cpu_user_s", user_s);
    json_put_real(json, "cpu_system_s", system_s);
    json_put_real(json, "cpu_window_s", report->measured ? cpu_window_s : NAN);
}

enum exitcode summary_report(struct load *load, const struct worker *workers,
                             const struct report *report)
{
    struct totals totals;
    struct json json;
    uint64_t distinct;
    const char *outcome;
    totals_of(workers, load->spec->threads, &totals);
    const struct window window = find_window(load, workers, report, &totals);
    const enum exitcode code = find_outcome(load, workers, report, &totals, &outcome);
    faults_report_totals(&load->faults);
    event_begin(&json, "summary");
    json_put_text(&json, "outcome", outcome);
    json_put_bool(&json, "is_answered", !load->is_unanswered);
    put_numbers(&json, &window, &totals, report);
    const bool is_known = totals_distinct(workers, load->spec->threads, &totals, &distinct);
    json_put_known(&json, "rows_distinct", is_known, distinct);
    table_rows_put(&json, load, workers, &totals);
    put_newest_row(&json, load, workers);
    put_offered(&json, load, workers);
    put_times(&json, load, workers, report);
    put_workers(&json, load, workers, report);
    put_partitions(&json, load, workers);
    faults_put(&load->faults, &json);
    event_end(&json);
    return code;
}
