/* Queries over HTTP: GET of `query_path` with the text of an operation behind it, encoded but for
 * the characters of `query_plain`, and its marks filled in; with `query_posted` POST of the text
 * as JSON. The answer is JSON, see posts_answer.h.
 * What is held of an answer at once is all of it, up to what http.c takes.
 * A digest has times as the server writes them, so that it compares with the same server's only. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../marks.h"
#include "numbers.h"
#include "posts_answer.h"
#include "posts_parts.h"
#include "sink_values.h"

enum { VALUE_BYTES = 3 * 64, HEAD_BYTES = 512 };

struct posts_ask {
    struct marks marks;
    char *plain; /* all pieces, encoded, one behind the other */
    uint32_t ends[PIECES_MAX];
    bool is_posted;
    const char *as_it_is; /* characters that are not encoded; NULL: all */
    char *request; /* with space for all parameters */
};

static const char *option_or(const struct driver *d, const char *name, const char *otherwise)
{
    const char *value = spec_option(d->setup->spec, name);
    return value ? value : otherwise;
}

static char *put_encoded(char *out, const char *text, size_t length, const char *plain)
{
    static const char digits[] = "0123456789ABCDEF";
    if (!plain) {
        memcpy(out, text, length);
        return out + length;
    }
    for (size_t i = 0; i < length; i++) {
        const uint8_t c = (uint8_t)text[i];
        if (isalnum(c) || (c && (strchr("-._~", c) || strchr(plain, c)))) {
            *out++ = (char)c;
            continue;
        }
        *out++ = '%';
        *out++ = digits[c >> 4];
        *out++ = digits[c & 15];
    }
    return out;
}

static bool encode(struct posts_ask *ask, const struct driver *d, const char *text)
{
    const size_t most = 3 * strlen(text) + 1;
    ask->plain = malloc(most);
    ask->request =
        malloc(most + ask->marks.parameter_count * VALUE_BYTES + HEAD_BYTES +
               strlen(option_or(d, "query_path", "")) + strlen(d->host) + strlen(d->authorization));
    char *out = ask->plain;
    for (uint32_t i = 0; out && i < ask->marks.count; i++) {
        out = put_encoded(out, ask->marks.pieces[i].plain, ask->marks.pieces[i].length,
                          ask->as_it_is);
        ask->ends[i] = (uint32_t)(out - ask->plain);
    }
    return ask->plain && ask->request;
}

enum outcome posts_check_ask(const struct driver *d, const struct marks *marks, const char *text,
                             struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    uint64_t is_posted = 0;
    char why[160];
    (void)marks, (void)text;
    if (d->form->is_unanswered)
        fault_set(fault, FAULT_SPEC, "SPEC", "a method without answers cannot ask");
    else if (!spec_option(spec, "query_path"))
        fault_set(fault, FAULT_SPEC, "SPEC", "query_path is needed: where queries are asked");
    else if (!spec_option_whole(spec, "query_posted", 0, 1, &is_posted, why, sizeof why))
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
    else
        return OUTCOME_OK;
    return OUTCOME_FATAL;
}

enum outcome posts_prepare(struct connection *c, uint32_t operation, const char *text,
                           struct fault *fault)
{
    char why[160];
    struct posts_ask *ask = calloc(1, sizeof *ask);
    c->asks[operation] = ask;
    if (!ask)
        return fault_no_memory(fault);
    if (!marks_read(&ask->marks, text, why, sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return OUTCOME_FATAL;
    }
    uint64_t is_posted = 0;
    if (!spec_option_whole(c->driver->setup->spec, "query_posted", 0, 1, &is_posted, why,
                           sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return OUTCOME_FATAL;
    }
    ask->is_posted = is_posted;
    ask->as_it_is = is_posted ? NULL : option_or(c->driver, "query_plain", "");
    return encode(ask, c->driver, text) ? OUTCOME_OK : fault_no_memory(fault);
}

void posts_free_asks(struct connection *c)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        if (c->asks[i]) {
            free(c->asks[i]->plain);
            free(c->asks[i]->request);
        }
        free(c->asks[i]);
    }
}

size_t posts_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    return d->form->name(d->made, table, out);
}

/* A table's name, a time in units of the precision, a number. */
static char *put_parameter(char *out, const struct posts_ask *ask, const struct driver *d,
                           const struct parameter *parameter)
{
    const char *plain = ask->is_posted ? NULL : "";
    char text[DRIVER_NAME_MAX];
    int64_t time;
    double value;
    if (parameter->is_part)
        return numbers_put_unsigned(out, parameter->table % (uint32_t)d->setup->spec->partitions);
    if (parameter->is_table)
        return put_encoded(out, text, posts_table_name(d, parameter->table, text), plain);
    memcpy(&time, parameter->value, sizeof time);
    memcpy(&value, parameter->value, sizeof value);
    const char *end = parameter->type == TYPE_TIMESTAMP ? numbers_put_whole(text, time)
                                                        : numbers_put_double(text, value);
    return put_encoded(out, text, (size_t)(end - text), plain);
}

static size_t fill(const struct posts_ask *ask, const struct driver *d,
                   const struct parameter *parameters)
{
    char *out = ask->request;
    uint32_t begin = 0;
    if (!ask->is_posted)
        out += sprintf(out, "GET %s", option_or(d, "query_path", ""));
    for (uint32_t i = 0; i < ask->marks.count; begin = ask->ends[i++]) {
        memcpy(out, ask->plain + begin, ask->ends[i] - begin);
        out += ask->ends[i] - begin;
        if (ask->marks.pieces[i].mark != MARK_NONE)
            out = put_parameter(out, ask, d, parameters++);
    }
    if (!ask->is_posted)
        out += sprintf(out, " HTTP/1.1\r\nHost: %s\r\n%s\r\n", d->host, d->authorization);
    return (size_t)(out - ask->request);
}

enum outcome posts_ask(struct connection *c, uint32_t operation, const struct parameter *parameters,
                       uint64_t deadline_ns, struct answer *answer, struct fault *fault)
{
    const struct driver *d = c->driver;
    struct posts_ask *ask = c->asks[operation];
    const size_t length = fill(ask, d, parameters);
    struct http_reply reply;
    stream_deadline(&c->stream, deadline_ns);
    const enum outcome outcome = posts_reach(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!(ask->is_posted ? http_post(&c->stream, d->host, option_or(d, "query_path", ""),
                                     d->ask_header, ask->request, length, &reply)
                         : http_ask(&c->stream, ask->request, length, &reply)))
        return posts_broken(&c->stream, fault);
    if (reply.status < 200 || reply.status >= 300)
        return posts_refused(&reply, fault);
    const struct posts_answer form = {option_or(d, "answer_rows", "values"),
                                      spec_option(d->setup->spec, "answer_column")};
    answer->bytes = reply.length;
    const char *error = posts_count(&form, reply.body, answer);
    if (!error) {
        sink_body(answer, reply.body, reply.length);
        return OUTCOME_OK;
    }
    fault_set(fault, FAULT_SERVER, "QUERY", "%.*s", (int)(posts_behind_string(error) - error),
              error);
    return OUTCOME_ERROR;
}
