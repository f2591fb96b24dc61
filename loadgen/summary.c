/* The summary event; see summary.h. */
#include "summary.h"

#include <math.h>
#include <stdlib.h>

#include "clock.h"
#include "events.h"
#include "overdue.h"

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

/* The window until its end, as planned or cut short, unless all work ended before: then until the
 * last answer. */
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
    if (report->abandoned && !report->interrupted) { /* rows are lost from sight */
        *outcome = "fatal";
        return EXIT_FATAL;
    }
    if (report->interrupted) {
        *outcome = "interrupted";
        return EXIT_INTERRUPTED;
    }
    if (totals->rows_failed > 0 || any_ended(load, workers, ENDING_ERRORS)) {
        *outcome = "errors";
        return EXIT_ERRORS;
    }
    *outcome = "ok";
    return EXIT_DONE;
}

static void put_workers(struct json *json, const struct load *load, const struct worker *workers,
                        const struct report *report)
{
    json_key(json, "workers");
    json_open(json, '[');
    for (uint64_t i = 0; i < load->spec->threads; i++) {
        const struct counters *c = &workers[i].counters;
        json_open(json, '{');
        json_put_whole(json, "worker", workers[i].number);
        json_put_whole(json, "tables", workers[i].share->count);
        json_put_whole(json, "rows", counter_get(&c->rows_acked));
        json_put_whole(json, "requests", counter_get(&c->requests));
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

static void put_partitions(struct json *json, const struct load *load,
                           const struct worker *workers)
{
    json_key(json, "partitions");
    json_open(json, '[');
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

/* What the worker owed when the window ended, if it loaded until then. */
static bool has_overdue(const struct worker *w, const struct report *report)
{
    const bool is_done = counter_seen(&w->counters.done);
    return report->window_over && !report->interrupted &&
           (!is_done || w->ending == ENDING_WINDOW);
}

static void put_histograms(struct json *json, const struct load *load,
                           const struct worker *workers, const struct report *report)
{
    struct histogram response, service;
    struct overdue overdue = {0};
    if (histogram_init(&response, 3) || histogram_init(&service, 3))
        abort();
    for (uint64_t i = 0; i < load->spec->threads; i++) {
        histogram_add(&response, &workers[i].response);
        histogram_add(&service, &workers[i].service);
        if (has_overdue(&workers[i], report))
            overdue_add(&overdue, &response, &workers[i], load->window_end_ns);
    }
    json_put_whole(json, "overdue", overdue.unsent);
    json_put_whole(json, "in_flight_at_end", overdue.in_flight);
    event_put_histogram(json, "response", &response);
    event_put_histogram(json, "service", &service);
    histogram_free(&response);
    histogram_free(&service);
}

/* What each operation did. While there is one, all numbers are its own, and the histograms of the
 * whole load are not written a second time. */
static void put_operations(struct json *json, const struct load *load, const struct totals *totals)
{
    json_key(json, "operations");
    json_open(json, '[');
    for (uint32_t i = 0; i < load->operations->count; i++) {
        const struct operation *operation = &load->operations->list[i];
        json_open(json, '{');
        json_put_text(json, "name", operation->name);
        json_put_text(json, "unit", operation->unit);
        json_put_whole(json, "weight", operation->weight);
        json_put_whole(json, "requests", totals->requests);
        json_put_whole(json, "errors", totals->errors);
        json_put_whole(json, "retries", totals->retries);
        json_put_whole(json, "units_acked", totals->rows_acked);
        json_put_whole(json, "units_window", totals->rows_window);
        json_put_null(json, "response");
        json_put_null(json, "service");
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* Rows a second that were meant to be sent by this process; not finite in a closed loop. */
static double offered_rows_per_s(const struct load *load, const struct worker *workers)
{
    double rows_per_ns = 0;
    for (uint64_t i = 0; i < load->spec->threads; i++)
        rows_per_ns += workers[i].pacing.rows_per_ns;
    return load->spec->rate > 0 ? rows_per_ns * 1e9 : NAN;
}

static void put_numbers(struct json *json, const struct window *window,
                        const struct totals *totals, const struct report *report)
{
    const double window_s = (double)(window->end_ns - window->start_ns) / 1e9;
    const double cpu_window_s = (double)(report->cpu_end_ns - report->cpu_start_ns) / 1e9;
    double user_s, system_s;
    clock_process_usage_s(&user_s, &system_s);
    json_put_real(json, "window_s", window_s);
    json_put_whole(json, "window_start_ns", window->start_ns);
    json_put_whole(json, "window_end_ns", window->end_ns);
    json_put_whole(json, "rows_window", totals->rows_window);
    json_put_real(json, "rows_per_s",
                  window_s > 0 ? (double)totals->rows_window / window_s : NAN);
    json_put_whole(json, "rows_acked", totals->rows_acked);
    json_put_whole(json, "rows_failed", totals->rows_failed);
    json_put_whole(json, "rows_unanswered", totals->rows_unanswered);
    json_put_whole(json, "requests", totals->requests);
    json_put_whole(json, "errors", totals->errors);
    json_put_whole(json, "retries", totals->retries);
    if (totals->last_ack_ns)
        json_put_whole(json, "last_ack_ns", totals->last_ack_ns);
    else
        json_put_null(json, "last_ack_ns");
    json_put_real(json, "cpu_user_s", user_s);
    json_put_real(json, "cpu_system_s", system_s);
    json_put_real(json, "cpu_window_s", report->measured ? cpu_window_s : NAN);
}

enum exitcode summary_tell(struct load *load, const struct worker *workers,
                           const struct report *report)
{
    struct totals totals;
    struct json json;
    const char *outcome;
    totals_of(workers, load->spec->threads, &totals);
    const struct window window = find_window(load, workers, report, &totals);
    const enum exitcode code = find_outcome(load, workers, report, &totals, &outcome);
    faults_tell_totals(&load->faults);
    event_begin(&json, "summary");
    json_put_text(&json, "outcome", outcome);
    put_numbers(&json, &window, &totals, report);
    json_put_real(&json, "offered_rows_per_s", offered_rows_per_s(load, workers));
    put_histograms(&json, load, workers, report);
    put_operations(&json, load, &totals);
    put_workers(&json, load, workers, report);
    put_partitions(&json, load, workers);
    faults_put(&load->faults, &json);
    event_end(&json);
    return code;
}
