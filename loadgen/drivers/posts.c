/* See posts.h. A whole answer is held in memory. A digest has times as the server writes them:
 * comparable with the same server only. */
#include "posts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../base64.h"
#include "../deadline.h"
#include "../digest.h"
#include "../marks.h"
#include "ask_text.h"
#include "http.h"
#include "json_text.h"
#include "numbers.h"
#include "sink_values.h"

enum {
    BODY_BYTES = 1 << 23,
    FINISH_S = 20,
    WORDS_BYTES = 400,
    HEADER_BYTES = 1024,
    VALUE_BYTES = 3 * 64,
    HEAD_BYTES = 512
};

struct driver {
    const struct driver_setup *setup;
    const struct post_form *form;
    void *encoder; /* made by the form's kind */
    const char *host, *path;
    char authorization[HEADER_BYTES / 2]; /* "" without a login */
    char header[HEADER_BYTES]; /* with rows: the form's lines and authorization */
    char ask_header[HEADER_BYTES]; /* sent with queries that are posted */
    uint16_t port;
    uint32_t first_column, column_count;
};

struct posts_ask {
    struct marks marks;
    char *plain; /* all pieces, encoded, one after another */
    uint32_t ends[PIECES_MAX];
    bool is_posted;
    const char *member; /* texts are strings of this member of JSON */
    const char *as_it_is; /* characters that are not encoded; NULL: all */
    char *request; /* with space for all parameters */
};

struct connection {
    const struct driver *driver;
    struct stream stream;
    struct post_place *place; /* place within the current request */
    char *body;
    uint64_t body_size;
    struct packer *packer; /* NULL: nothing is compressed */
    struct posts_ask *asks[OPERATIONS_MAX];
};

/* For the scheme Basic. False: too long. */
static bool put_basic(const struct driver *d, const char *password, char *coded, size_t room)
{
    const char *user = d->setup->spec->user;
    char plain[HEADER_BYTES / 4];
    const int length = snprintf(plain, sizeof plain, "%s:%s", user ? user : "", password);
    if ((size_t)length >= sizeof plain || base64_bytes((size_t)length) > room)
        return false;
    base64_put(coded, plain, (size_t)length);
    return true;
}

static enum outcome make_headers(struct driver *d, struct fault *fault)
{
    const char *scheme = spec_option(d->setup->spec, "auth_scheme");
    const char *password = d->setup->password;
    char coded[HEADER_BYTES / 2] = "";
    int used = 0;
    bool fits = true;
    if (scheme && password && *password) {
        const bool is_basic = strcmp(scheme, "Basic") == 0;
        fits = !is_basic || put_basic(d, password, coded, sizeof coded);
        used = snprintf(d->authorization, sizeof d->authorization, "Authorization: %s %s\r\n",
                        scheme, is_basic ? coded : password);
    }
    if (!fits || (size_t)used >= sizeof d->authorization || (used && strpbrk(password, "\r\n")))
        return fault_spec(fault, "SCALE_PASSWORD: too long, or has a line break");
    snprintf(d->header, sizeof d->header, "%s%s", d->form->header, d->authorization);
    snprintf(d->ask_header, sizeof d->ask_header, "Content-Type: application/json\r\n%s",
             d->authorization);
    return OUTCOME_OK;
}

static enum outcome check_kind(const struct driver *d, bool *is_switched, struct fault *fault)
{
    const struct post_kind *kind = d->form->kind;
    const struct spec *spec = d->setup->spec;
    const struct column *columns = d->setup->schema->columns;
    uint64_t value = 0;
    if (kind->switch_name && !driver_option(spec, kind->switch_name, 0, 1, &value, fault))
        return OUTCOME_FATAL;
    *is_switched = value;
    for (uint32_t c = d->first_column; c < d->first_column + d->column_count; c++)
        if (!kind->has(columns[c].type))
            return fault_spec(fault, "columns: %s %s:%s", kind->lacks, columns[c].name,
                              type_name(columns[c].type));
    return kind->ms_only && spec->precision != PRECISION_MS ? fault_spec(fault, "%s", kind->ms_only)
                                                            : OUTCOME_OK;
}

static enum outcome make_encoder(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    struct post_names names = {.spec = spec,
                               .schema = d->setup->schema,
                               .measurement = spec->table ? spec->table : "measurement",
                               .variant = d->form->variant};
    const enum outcome outcome = check_kind(d, &names.is_switched, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    d->encoder = calloc(1, d->form->kind->encoder_bytes);
    return d->encoder && d->form->kind->init(d->encoder, &names) ? OUTCOME_OK
                                                                 : fault_no_memory(fault);
}

enum outcome posts_open(const struct driver_setup *setup, struct driver **driver,
                        struct fault *fault)
{
    const struct post_form *form = setup->method->form;
    const struct spec *spec = setup->spec;
    const char *path = spec_option(spec, "write_path");
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->form = form;
    d->host = spec->host ? spec->host : "localhost";
    d->port = spec->port ? (uint16_t)spec->port : form->port;
    d->path = path ? path : form->path;
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count = spec_column_count(spec, setup->schema->column_count);
    if (make_encoder(d, fault) != OUTCOME_OK || make_headers(d, fault) != OUTCOME_OK)
        return OUTCOME_FATAL;
    if (posts_row_bytes(d) > BODY_BYTES)
        return fault_spec(fault, "columns: a row takes more than %d bytes", BODY_BYTES);
    return OUTCOME_OK;
}

static enum outcome reach(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    if (c->stream.fd >= 0 || stream_open(&c->stream, d->host, d->port))
        return OUTCOME_OK;
    return stream_fault_unsent(&c->stream, fault);
}

void posts_disconnect(struct connection *c)
{
    if (c->driver->form->is_unanswered)
        stream_finish(&c->stream, deadline_after_s(FINISH_S));
    stream_free(&c->stream);
    if (c->driver->form->packing)
        c->driver->form->packing->drop(c->packer);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        if (c->asks[i]) {
            free(c->asks[i]->plain);
            free(c->asks[i]->request);
        }
        free(c->asks[i]);
    }
    free(c->place);
    free(c->body);
    free(c);
}

enum outcome posts_connect(struct driver *d, uint32_t worker, struct connection **connection,
                           struct fault *fault)
{
    const uint64_t row = posts_row_bytes(d);
    const uint64_t rows = d->setup->spec->rows_per_request;
    (void)worker;
    if (spec_option(d->setup->spec, "auth_scheme") && !*d->authorization &&
        !d->setup->is_sending_stubbed)
        return fault_spec(fault, "auth_scheme: the environment has no SCALE_PASSWORD");
    struct connection *c = calloc(1, sizeof *c);
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->body_size = rows < BODY_BYTES / row ? (rows + 1) * row : BODY_BYTES;
    c->body = malloc(c->body_size);
    c->place = calloc(1, d->form->kind->place_bytes);
    if (!c->body || !c->place) {
        posts_disconnect(c);
        return fault_no_memory(fault);
    }
    if (d->form->packing && !(c->packer = d->form->packing->make(fault))) {
        posts_disconnect(c);
        return OUTCOME_FATAL;
    }
    if (!d->setup->is_sending_stubbed && reach(c, fault) != OUTCOME_OK) {
        posts_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

/* Without answers. A server that sends something refuses rows, perhaps earlier ones. */
static enum outcome pour(struct connection *c, const char *text, size_t length, struct fault *fault)
{
    struct stream *s = &c->stream;
    const enum outcome outcome = reach(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!stream_hear(s) || !stream_write(s, text, length, NULL, 0))
        return stream_fault(s, fault);
    if (s->end == s->begin)
        return OUTCOME_OK;
    const size_t received = s->end - s->begin;
    fault_set(fault, FAULT_SERVER, "REFUSED", "the server says: %.*s",
              (int)(received < WORDS_BYTES ? received : WORDS_BYTES), s->bytes + s->begin);
    s->begin = s->end = 0;
    return OUTCOME_ERROR;
}

static enum outcome refused(const struct http_reply *reply, struct fault *fault)
{
    char code[32];
    snprintf(code, sizeof code, "HTTP%d", reply->status);
    return fault_set(fault, FAULT_SERVER, code, "HTTP status %d: %.400s", reply->status,
                     reply->body);
}

static enum outcome post(struct connection *c, const char *text, size_t length, uint32_t rows,
                         struct fault *fault)
{
    const struct driver *d = c->driver;
    const struct post_kind *kind = d->form->kind;
    struct http_reply reply;
    const enum outcome outcome = reach(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!http_post(&c->stream, d->host, d->path, d->header, text, length, &reply))
        return stream_fault(&c->stream, fault);
    if (reply.status < 200 || reply.status >= 300)
        return refused(&reply, fault);
    return kind->stored ? kind->stored(reply.body, rows, fault) : OUTCOME_OK;
}

static enum outcome deliver(struct connection *c, size_t length, uint32_t rows, struct fault *fault)
{
    const struct driver *d = c->driver;
    const char *text = c->body;
    if (c->packer)
        text = d->form->packing->pack(c->packer, c->body, length, &length);
    if (!text)
        return fault_no_memory(fault);
    if (d->setup->is_sending_stubbed)
        return OUTCOME_OK;
    return d->form->is_unanswered ? pour(c, text, length, fault)
                                  : post(c, text, length, rows, fault);
}

enum outcome posts_send(struct connection *c, const struct batch *batch, uint64_t deadline_ns,
                        uint64_t *rows_acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    enum outcome outcome = OUTCOME_OK;
    uint32_t rows;
    c->place->slice = c->place->column = c->place->row = 0;
    stream_deadline(&c->stream, deadline_ns);
    for (*rows_acked = 0; outcome == OUTCOME_OK && *rows_acked < batch->rows;) {
        const char *end =
            d->form->kind->put(d->encoder, batch, c->place, c->body, c->body_size, &rows);
        if (end > c->body)
            outcome = deliver(c, (size_t)(end - c->body), rows, fault);
        if (outcome == OUTCOME_OK)
            *rows_acked += rows;
    }
    return outcome;
}

void posts_close(struct driver *d)
{
    if (d->encoder)
        d->form->kind->drop(d->encoder);
    free(d->encoder);
    free(d);
}

uint64_t posts_row_bytes(const struct driver *d)
{
    return d->form->kind->row_bytes(d->encoder, d->first_column, d->column_count);
}

static const char *option_or(const struct driver *d, const char *name, const char *otherwise)
{
    const char *value = spec_option(d->setup->spec, name);
    return value ? value : otherwise;
}

struct word { /* part of the text, without quotes; NULL: none */
    const char *at;
    size_t length;
};

struct scan {
    const char *at;
    struct answer *answer;
    struct word column, first_column;
    bool has_first;
    const char *error; /* the value of a member of this name */
};

static const char *behind_string(const char *at) /* from its opening quote */
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static const char *behind_value(const char *at) /* neither a list nor an object */
{
    return *at == '"' ? behind_string(at) : at + strcspn(at, ",]} \t\r\n");
}

static uint64_t digest_value(uint64_t digest, const char *at, const char *end)
{
    const size_t length = (size_t)(end - at);
    if (*at == '"')
        return digest_text(digest, at + 1, length - 2);
    if (*at == 'n')
        return digest_word(digest, DIGEST_NULL);
    if (*at == 't' || *at == 'f')
        return digest_word(digest, *at == 't');
    if (memchr(at, '.', length) || memchr(at, 'e', length))
        return digest_real(digest, strtod(at, NULL));
    return digest_word(digest, (uint64_t)strtoll(at, NULL, 10));
}

/* From its bracket on; ends early on anything but lists of plain values. */
static void count_rows(struct scan *s)
{
    struct answer *answer = s->answer;
    uint32_t depth = 0;
    do {
        s->at += strspn(s->at, ", \t\r\n");
        if (*s->at == '[') {
            depth++;
            s->at++;
        } else if (*s->at == ']') {
            answer->rows += depth == 2;
            if (depth == 2 && answer->wants_digest)
                answer->digest = digest_word(answer->digest, DIGEST_ROW);
            depth--;
            s->at++;
        } else {
            const char *end = behind_value(s->at);
            if (end == s->at || !*end)
                return;
            answer->values++;
            if (answer->wants_digest)
                answer->digest = digest_value(answer->digest, s->at, end);
            s->at = end;
        }
    } while (depth > 0);
}

static bool is_named(struct word name, const char *wanted)
{
    return wanted && strlen(wanted) == name.length && memcmp(name.at, wanted, name.length) == 0;
}

/* Rows, or more values of rows that are counted already. */
static void take_rows(struct scan *s)
{
    const uint64_t before = s->answer->rows;
    if (!s->has_first)
        s->first_column = s->column;
    s->has_first = true;
    count_rows(s);
    if (s->column.length != s->first_column.length ||
        (s->column.length && memcmp(s->column.at, s->first_column.at, s->column.length) != 0))
        s->answer->rows = before;
    s->column = (struct word){0};
}

/* Returns the opening quote of the member `error`, or NULL. */
static const char *count_answer(const struct driver *d, const char *text, struct answer *answer)
{
    const char *const rows = option_or(d, "answer_rows", "values");
    const char *const column = spec_option(d->setup->spec, "answer_column");
    struct scan s = {.at = text, .answer = answer};
    while (*(s.at += strcspn(s.at, "\""))) {
        struct word name = {s.at + 1, 0};
        s.at = behind_string(s.at);
        name.length = (size_t)(s.at - name.at) - 1;
        s.at += strspn(s.at, " \t\r\n");
        if (*s.at != ':')
            continue;
        s.at += 1 + strspn(s.at + 1, " \t\r\n");
        if (is_named(name, rows) && *s.at == '[')
            take_rows(&s);
        else if (is_named(name, "error") && *s.at == '"')
            s.error = s.at;
        else if (is_named(name, column) && *s.at == '"' && !s.column.at)
            s.column = (struct word){s.at + 1, (size_t)(behind_string(s.at) - s.at) - 1};
    }
    return s.error;
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

static const char thousandths[] = "e-3";

static char *put_piece(char *out, const struct posts_ask *ask, const struct text_piece *piece)
{
    return ask->member ? json_put_text(out, piece->plain, piece->length)
                       : put_encoded(out, piece->plain, piece->length, ask->as_it_is);
}

/* The end of the object belongs to the last piece, which has no mark. */
static bool encode(struct posts_ask *ask, const struct driver *d, const char *text)
{
    const size_t named = ask->member ? strlen(ask->member) + 8 : 0;
    const size_t most = JSON_ESCAPE_BYTES * strlen(text) + named + 1;
    ask->plain = malloc(most);
    ask->request =
        malloc(most + ask->marks.parameter_count * VALUE_BYTES + HEAD_BYTES +
               strlen(option_or(d, "query_path", "")) + strlen(d->host) + strlen(d->authorization));
    if (!ask->plain || !ask->request)
        return false;
    char *out = ask->plain;
    if (ask->member)
        out += sprintf(out, "{\"%s\":\"", ask->member);
    for (uint32_t i = 0; i < ask->marks.count; i++) {
        out = put_piece(out, ask, &ask->marks.pieces[i]);
        if (ask->member && i + 1 == ask->marks.count)
            out += sprintf(out, "\"}");
        ask->ends[i] = (uint32_t)(out - ask->plain);
    }
    return true;
}

enum outcome posts_check_ask(const struct driver *d, const struct marks *marks, const char *text,
                             struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    uint64_t is_posted = 0;
    (void)marks, (void)text;
    if (d->form->is_unanswered)
        return fault_spec(fault, "a method without answers cannot ask");
    if (!spec_option(spec, "query_path"))
        return fault_spec(fault, "query_path is needed: where queries are asked");
    return driver_option(spec, "query_posted", 0, 1, &is_posted, fault) ? OUTCOME_OK
                                                                        : OUTCOME_FATAL;
}

enum outcome posts_prepare(struct connection *c, uint32_t operation, const char *text,
                           struct fault *fault)
{
    char why[160];
    struct posts_ask *ask = calloc(1, sizeof *ask);
    c->asks[operation] = ask;
    if (!ask)
        return fault_no_memory(fault);
    if (!marks_read(&ask->marks, text, why, sizeof why))
        return fault_spec(fault, "%s", why);
    uint64_t is_posted = 0;
    if (!driver_option(c->driver->setup->spec, "query_posted", 0, 1, &is_posted, fault))
        return OUTCOME_FATAL;
    ask->is_posted = is_posted;
    ask->member = is_posted ? spec_option(c->driver->setup->spec, "query_member") : NULL;
    ask->as_it_is = is_posted ? NULL : option_or(c->driver, "query_plain", "");
    return encode(ask, c->driver, text) ? OUTCOME_OK : fault_no_memory(fault);
}

size_t posts_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    char *at = out;
    if (!d->form->kind->is_numbered)
        *at++ = 'd';
    return (size_t)(put_unsigned(at, table) - out);
}

/* A time followed by e-3 is written as seconds: not every server reads 1500000000001e-3. */
static bool is_in_seconds(const struct posts_ask *ask, uint32_t piece)
{
    const uint32_t end = ask->ends[piece], last = ask->ends[ask->marks.count - 1];
    return last - end >= sizeof thousandths - 1 &&
           memcmp(ask->plain + end, thousandths, sizeof thousandths - 1) == 0;
}

static char *put_seconds(char *out, int64_t ms)
{
    out = put_whole(out, ms / 1000);
    *out++ = '.';
    return put_triple(out, (uint32_t)(ms % 1000));
}

static char *put_parameter(char *out, const struct posts_ask *ask, const struct driver *d,
                           const struct parameter *parameter, bool in_seconds)
{
    const char *plain = ask->is_posted ? NULL : "";
    char text[DRIVER_NAME_MAX];
    int64_t time;
    if (parameter->is_part)
        return put_unsigned(out, parameter->table % (uint32_t)d->setup->spec->partitions);
    if (parameter->is_table)
        return put_encoded(out, text, posts_table_name(d, parameter->table, text), plain);
    memcpy(&time, parameter->value, sizeof time);
    const char *end = in_seconds ? put_seconds(text, time) : ask_put_value(text, parameter);
    return put_encoded(out, text, (size_t)(end - text), plain);
}

static size_t fill(const struct posts_ask *ask, const struct driver *d,
                   const struct parameter *parameters)
{
    char *out = ask->request;
    uint32_t begin = 0;
    if (!ask->is_posted)
        out += sprintf(out, "GET %s", option_or(d, "query_path", ""));
    for (uint32_t i = 0; i < ask->marks.count; i++) {
        memcpy(out, ask->plain + begin, ask->ends[i] - begin);
        out += ask->ends[i] - begin;
        begin = ask->ends[i];
        if (ask->marks.pieces[i].mark == MARK_NONE)
            continue;
        const bool in_seconds = parameters->type == TYPE_TIMESTAMP && is_in_seconds(ask, i);
        out = put_parameter(out, ask, d, parameters++, in_seconds);
        begin += in_seconds ? sizeof thousandths - 1 : 0;
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
    const enum outcome outcome = reach(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!(ask->is_posted ? http_post(&c->stream, d->host, option_or(d, "query_path", ""),
                                     d->ask_header, ask->request, length, &reply)
                         : http_ask(&c->stream, ask->request, length, &reply)))
        return stream_fault(&c->stream, fault);
    if (reply.status < 200 || reply.status >= 300)
        return refused(&reply, fault);
    answer->bytes = reply.length;
    const char *error = count_answer(d, reply.body, answer);
    if (!error) {
        sink_body(answer, reply.body, reply.length);
        return OUTCOME_OK;
    }
    return fault_set(fault, FAULT_SERVER, "QUERY", "%.*s", (int)(behind_string(error) - error),
                     error);
}
