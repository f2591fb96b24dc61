/* See asking.h. */
#include "asking.h"

#include <inttypes.h>
#include <stdio.h>

#include "clock.h"
#include "events.h"
#include "kept.h"
#include "output.h"
#include "totals.h"

enum outcome asking_prepare(struct worker *w)
{
    const struct operations *operations = w->load->operations;
    for (uint32_t i = 0; i < operations->count; i++) {
        const struct operation *operation = &operations->list[i];
        if (!operation->ask)
            continue;
        if (operation->ask->result) {
            if (kept_open(w, i) != OUTCOME_OK)
                return OUTCOME_FATAL;
            if (!w->load->subscribes)
                continue;
        }
        const enum outcome outcome =
            w->load->ops->prepare(w->connection, i, operation->ask->text, &w->fault);
        if (outcome != OUTCOME_OK) {
            const struct fault refusal = w->fault;
            fault_set(&w->fault, refusal.kind, refusal.code, "ask.%s.text: %.400s", operation->name,
                      refusal.message);
            return outcome;
        }
    }
    return OUTCOME_OK;
}

static void take_item(struct worker *w, const struct ask *ask)
{
    for (uint32_t i = 0; i < ask->marks.parameter_count; i++)
        w->asking.drawn.parameters[i] = (struct parameter){
            .type = TYPE_BINARY, .value = w->turn.item, .length = w->turn.length};
}

/* Moves the range so that it ends with the worker's newest row; without a length it is that row. */
static void follow(struct worker *w, int64_t span)
{
    const struct maker *m = &w->maker;
    const int64_t newest = m->start + (int64_t)w->newest_row * m->step;
    const int64_t from = span ? newest + m->step - span : newest;
    w->asking.drawn.from = from > m->start ? from : m->start;
    w->asking.drawn.to = w->asking.drawn.from + span;
    w->asking.drawn.until = w->asking.drawn.to - 1;
}

void asking_draw(struct worker *w, uint64_t now_ns)
{
    const struct load *load = w->load;
    const struct tally *tally = &w->tallies[w->operation];
    const uint64_t every = load->spec->check_every;
    const struct ask *ask = load->operations->list[w->operation].ask;
    if (load->spec->rounds)
        take_item(w, ask);
    else
        ask_draw(ask, load->spec, w->hash, &w->asking.drawn);
    if (load->operations->list[w->operation].ask->follows)
        follow(w, load->operations->list[w->operation].ask->span);
    w->asking.check = checks_draw(w, now_ns);
    w->asking.is_reported = every && counter_get(&tally->answered) % every == 0;
}

static enum outcome ask_once(struct worker *w, uint64_t deadline_ns)
{
    struct asking *a = &w->asking;
    const struct ask *ask = w->load->operations->list[w->operation].ask;
    a->answer = (struct answer){.wants_digest =
                                    a->is_reported || a->check || ask->nothing != NOTHING_NO_ROW};
    if (a->kept[w->operation])
        return w->load->subscribes ? kept_message(w) : kept_ask(w);
    const struct result_sink sink =
        content_sink(&a->content, w->number, counter_get(&w->counters.requests) - 1);
    a->answer.sink = a->check ? &sink : NULL;
    const enum outcome outcome = w->load->ops->ask(w->connection, w->operation, a->drawn.parameters,
                                                   deadline_ns, &a->answer, &w->fault);
    a->answer.sink = NULL;
    return outcome;
}

enum outcome asking_ask(struct worker *w, uint64_t deadline_ns)
{
    struct asking *a = &w->asking;
    if ((a->is_reported || a->check) && w->load->operations->has_write) {
        struct totals totals;
        totals_of(w->load->workers, w->load->spec->threads, &totals);
        a->rows_acked_before = totals.rows_acked;
    }
    if (a->check)
        a->check_cpu_ns = clock_thread_cpu_ns();
    enum outcome outcome;
    do
        outcome = ask_once(w, deadline_ns);
    while (outcome == OUTCOME_OK && a->answer.is_quiet &&
           !atomic_load_explicit(&w->load->stop, memory_order_relaxed));
    a->answer.is_end |= a->answer.is_quiet;
    return outcome;
}

static void put_devices(struct json *json, const struct drawn *drawn)
{
    char text[16];
    json_begin(json, "devices", '[');
    for (uint32_t i = 0; i < drawn->device_count; i++)
        json_plain(json, text, (size_t)snprintf(text, sizeof text, "%" PRIu32, drawn->devices[i]));
    json_close(json, ']');
}

/* null: the text has no mark for it. */
static void put_drawn(struct json *json, const struct worker *w, const struct drawn *drawn)
{
    const struct marks *marks = &w->load->operations->list[w->operation].ask->marks;
    const int64_t per_ms = spec_units_per_ms(w->load->spec);
    const bool has_to = marks_count(marks, MARK_TO) || marks_count(marks, MARK_UNTIL);
    const bool has_from = has_to || marks_count(marks, MARK_FROM) || marks_count(marks, MARK_AT);
    char text[40];
    put_devices(json, drawn);
    if (has_from)
        json_put_ms(json, "from_ms", drawn->from, per_ms);
    else
        json_put_null(json, "from_ms");
    if (has_to)
        json_put_ms(json, "to_ms", drawn->to, per_ms);
    else
        json_put_null(json, "to_ms");
    json_key(json, "value");
    if (marks_count(marks, MARK_VALUE))
        json_plain(json, text, (size_t)snprintf(text, sizeof text, "%.17g", drawn->value));
    else
        json_plain(json, "null", 4);
}

static void put_asked(struct worker *w, uint64_t sent_ns, uint64_t answered_ns, bool in_window)
{
    const struct load *load = w->load;
    const struct answer *answer = &w->asking.answer;
    struct json json;
    char digest[20];
    snprintf(digest, sizeof digest, "%016" PRIx64, answer->digest);
    event_begin(&json, "asked");
    json_put_text(&json, "operation", load->operations->list[w->operation].name);
    json_put_whole(&json, "worker", w->number);
    json_put_whole(&json, "request", counter_get(&w->counters.requests) - 1);
    put_drawn(&json, w, &w->asking.drawn);
    json_put_whole(&json, "rows", answer->rows);
    json_put_whole(&json, "values", answer->values);
    json_put_text(&json, "digest", digest);
    json_put_bool(&json, "in_window", in_window);
    json_put_whole(&json, "sent_ns", sent_ns);
    json_put_whole(&json, "answered_ns", answered_ns);
    struct totals totals = {0};
    const bool writes = load->operations->has_write;
    if (writes)
        totals_of(load->workers, load->spec->threads, &totals);
    json_put_known(&json, "rows_acked_when_asked", writes, w->asking.rows_acked_before);
    json_put_known(&json, "rows_sent_when_answered", writes, totals.rows_sent);
    content_put(&json, &w->asking.content, w->asking.check && answer->is_handed);
    event_end(&json);
}

void asking_report(struct worker *w, uint64_t sent_ns, uint64_t answered_ns, bool in_window)
{
    struct asking *a = &w->asking;
    struct tally *tally = &w->tallies[w->operation];
    const bool is_kept = a->check != CHECK_NOT;
    if (a->check == CHECK_PERHAPS && !checks_draw_late(w, answered_ns - sent_ns))
        a->check = CHECK_NOT;
    if ((a->is_reported || a->check) && !output_is_behind()) {
        put_asked(w, sent_ns, answered_ns, in_window);
        counter_add(&tally->checked, a->check != CHECK_NOT);
    }
    if (is_kept)
        counter_add(&tally->check_cpu_ns, clock_thread_cpu_ns() - a->check_cpu_ns);
}
