/* Rows posted over HTTP; see posts.h. */
#include "posts_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../deadline.h"
#include "packing.h"

enum { BODY_BYTES = 1 << 23, FINISH_S = 20, WORDS_BYTES = 400 };

/* The header lines of rows and queries. False where the password cannot be in one. Without a
 * password there is none: rows that are only printed need none. */
static bool make_headers(struct driver *d, struct fault *fault)
{
    const char *scheme = spec_option(d->setup->spec, "auth_scheme");
    const char *password = d->setup->password;
    int used = 0;
    if (scheme && password && *password)
        used = snprintf(d->authorization, sizeof d->authorization, "Authorization: %s %s\r\n",
                        scheme, password);
    if ((size_t)used >= sizeof d->authorization || (used && strpbrk(password, "\r\n"))) {
        fault_set(fault, FAULT_SPEC, "SPEC", "SCALE_PASSWORD: too long, or has a line break");
        return false;
    }
    snprintf(d->header, sizeof d->header, "%s%s", d->form->header, d->authorization);
    snprintf(d->ask_header, sizeof d->ask_header, "Content-Type: application/json\r\n%s",
             d->authorization);
    return true;
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
    d->column_count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    d->made = form->make(setup, fault);
    if (!d->made || !make_headers(d, fault))
        return OUTCOME_FATAL;
    if (posts_row_bytes(d) > BODY_BYTES) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: a row takes more than %d bytes", BODY_BYTES);
        return OUTCOME_FATAL;
    }
    return OUTCOME_OK;
}

enum outcome posts_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    (void)fault;
    for (uint32_t table = 0; table < spec->tables; table++)
        partition_of[table] = table % (uint32_t)spec->partitions;
    return OUTCOME_OK;
}

/* The way to the server fails. Whether it has the rows of the request is not known, so that they
 * are not sent again unless the spec says so. */
enum outcome posts_broken(const struct stream *stream, struct fault *fault)
{
    if (stream->is_late)
        return fault_late(fault, "the server has not answered all of it");
    fault_set(fault, FAULT_SERVER, "CONNECTION", "%s", stream->problem);
    return OUTCOME_ERROR;
}

enum outcome posts_reach(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    if (c->stream.fd >= 0 || stream_open(&c->stream, d->host, d->port))
        return OUTCOME_OK;
    const enum outcome outcome = posts_broken(&c->stream, fault);
    fault->is_transient = outcome == OUTCOME_ERROR; /* nothing was sent */
    return outcome;
}

void posts_disconnect(struct connection *c)
{
    if (c->driver->form->is_unanswered)
        stream_finish(&c->stream, deadline_after_s(FINISH_S));
    stream_free(&c->stream);
    if (c->driver->form->packing)
        c->driver->form->packing->drop(c->packer);
    posts_free_asks(c);
    free(c->place);
    free(c->body);
    free(c);
}

enum outcome posts_connect(struct driver *d, uint32_t worker, struct connection **connection,
                           struct fault *fault)
{
    const uint64_t row = posts_row_bytes(d);
    const uint64_t rows = d->setup->spec->rows_per_request;
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return fault_no_memory(fault);
    if (spec_option(d->setup->spec, "auth_scheme") && !*d->authorization &&
        !d->setup->is_sending_stubbed) {
        fault_set(fault, FAULT_SPEC, "SPEC", "auth_scheme: the environment has no SCALE_PASSWORD");
        free(c);
        return OUTCOME_FATAL;
    }
    c->driver = d;
    c->stream.fd = -1;
    c->body_size = rows < BODY_BYTES / row ? (rows + 1) * row : BODY_BYTES;
    c->body = malloc(c->body_size);
    c->place = calloc(1, d->form->place_bytes);
    if (!c->body || !c->place) {
        posts_disconnect(c);
        return fault_no_memory(fault);
    }
    if (d->form->packing && !(c->packer = d->form->packing->make(fault))) {
        posts_disconnect(c);
        return OUTCOME_FATAL;
    }
    if (!d->setup->is_sending_stubbed && posts_reach(c, fault) != OUTCOME_OK) {
        posts_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

/* One piece of a request that is not answered. A server that speaks refuses something: perhaps of
 * an earlier request, so that its rows are not sent again. */
static enum outcome pour(struct connection *c, const char *text, size_t length, struct fault *fault)
{
    struct stream *s = &c->stream;
    const enum outcome outcome = posts_reach(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!stream_hear(s) || !stream_write(s, text, length, NULL, 0))
        return posts_broken(s, fault);
    if (s->end == s->begin)
        return OUTCOME_OK;
    const size_t said = s->end - s->begin;
    fault_set(fault, FAULT_SERVER, "REFUSED", "the server says: %.*s",
              (int)(said < WORDS_BYTES ? said : WORDS_BYTES), s->bytes + s->begin);
    s->begin = s->end = 0;
    return OUTCOME_ERROR;
}

enum outcome posts_refused(const struct http_reply *reply, struct fault *fault)
{
    char code[32];
    snprintf(code, sizeof code, "HTTP%d", reply->status);
    fault_set(fault, FAULT_SERVER, code, "HTTP status %d: %.400s", reply->status, reply->body);
    return OUTCOME_ERROR;
}

/* One piece of a request. */
static enum outcome post(struct connection *c, const char *text, size_t length, struct fault *fault)
{
    const struct driver *d = c->driver;
    struct http_reply reply;
    const enum outcome outcome = posts_reach(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!http_post(&c->stream, d->host, d->path, d->header, text, length, &reply))
        return posts_broken(&c->stream, fault);
    if (reply.status >= 200 && reply.status < 300)
        return OUTCOME_OK;
    return posts_refused(&reply, fault);
}

/* One piece in the form in which it goes out; nothing goes out where sending is stubbed. */
static enum outcome deliver(struct connection *c, size_t length, struct fault *fault)
{
    const struct driver *d = c->driver;
    const char *text = c->body;
    if (c->packer)
        text = d->form->packing->pack(c->packer, c->body, length, &length);
    if (!text)
        return fault_no_memory(fault);
    if (d->setup->is_sending_stubbed)
        return OUTCOME_OK;
    return (d->form->is_unanswered ? pour : post)(c, text, length, fault);
}

enum outcome posts_send(struct connection *c, const struct batch *batch, uint64_t deadline_ns,
                        uint64_t *rows_acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    enum outcome outcome = OUTCOME_OK;
    uint32_t rows;
    d->form->begin(c->place);
    stream_deadline(&c->stream, deadline_ns);
    for (*rows_acked = 0; outcome == OUTCOME_OK && *rows_acked < batch->rows;) {
        const char *end = d->form->put(d->made, batch, c->place, c->body, c->body_size, &rows);
        if (end > c->body)
            outcome = deliver(c, (size_t)(end - c->body), fault);
        if (outcome == OUTCOME_OK)
            *rows_acked += rows;
    }
    return outcome;
}

void posts_close(struct driver *d)
{
    if (d->made)
        d->form->drop(d->made);
    free(d);
}

uint64_t posts_row_bytes(const struct driver *d)
{
    return d->form->row_bytes(d->made, d->first_column, d->column_count);
}
