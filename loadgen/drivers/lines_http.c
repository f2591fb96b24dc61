/* The driver of databases that take the InfluxDB line protocol over HTTP: no client library, one
 * connection that is kept. A request of more than BODY_BYTES is posted in several pieces. Its rows
 * count when the server has answered each with a status of 200 to 299. Options:
 *   write_path=/write?db=x  where lines are posted; `precision` of the spec must be what it says
 *   parted=1                table t is of measurement <table>_p<t mod partitions> */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "http.h"
#include "lines.h"

enum { BODY_BYTES = 1 << 23, DEFAULT_PORT = 8086 };

struct driver {
    const struct driver_setup *setup;
    struct lines lines;
    const char *host, *path;
    uint16_t port;
    uint32_t first_column, column_count;
};

struct connection {
    const struct driver *driver;
    struct stream stream;
    struct line_place place; /* of the request */
    char *body;
    uint64_t body_size;
};

static const struct driver_method methods[] = {{"http", FEATURE_DEADLINE | FEATURE_SEPARABLE},
                                               {NULL, 0}};
static const char *const options[] = {"write_path", "parted", NULL};

static enum outcome no_memory(struct fault *fault)
{
    fault_set(fault, FAULT_SERVER, "MEMORY", "out of memory");
    return OUTCOME_FATAL;
}

static enum outcome check(const struct driver *d, struct fault *fault)
{
    const struct column *lacking =
        lines_lack(d->setup->schema, d->first_column, d->column_count);
    if (lacking) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: lines have no way to write %s:%s",
                  lacking->name, type_name(lacking->type));
        return OUTCOME_FATAL;
    }
    if (lines_row_bytes(&d->lines, d->first_column, d->column_count) > BODY_BYTES) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: a row takes more than %d bytes",
                  BODY_BYTES);
        return OUTCOME_FATAL;
    }
    return OUTCOME_OK;
}

static enum outcome lines_open(const struct driver_setup *setup, struct driver **driver,
                               struct fault *fault)
{
    const struct spec *spec = setup->spec;
    const char *path = spec_option(spec, "write_path");
    uint64_t is_parted = 0;
    char why[160];
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->host = spec->host ? spec->host : "localhost";
    d->port = spec->port ? (uint16_t)spec->port : DEFAULT_PORT;
    d->path = path ? path : "/write";
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    if (!spec_option_whole(spec, "parted", 0, 1, &is_parted, why, sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return OUTCOME_FATAL;
    }
    if (!lines_init(&d->lines, spec, setup->schema, spec->table ? spec->table : "measurement",
                    is_parted))
        return no_memory(fault);
    return check(d, fault);
}

static enum outcome lines_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    (void)fault;
    for (uint32_t table = 0; table < spec->tables; table++)
        partition_of[table] = table % (uint32_t)spec->partitions;
    return OUTCOME_OK;
}

/* The way to the server fails. Whether it has the rows of the request is not known, so that they
 * are not sent again unless the spec says so. */
static enum outcome broken(const struct stream *stream, struct fault *fault)
{
    if (stream->is_late)
        return fault_late(fault, "the server has not answered all of it");
    fault_set(fault, FAULT_SERVER, "CONNECTION", "%s", stream->problem);
    return OUTCOME_ERROR;
}

static enum outcome reach(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    if (c->stream.fd >= 0 || stream_open(&c->stream, d->host, d->port))
        return OUTCOME_OK;
    const enum outcome outcome = broken(&c->stream, fault);
    fault->is_transient = outcome == OUTCOME_ERROR; /* nothing was sent */
    return outcome;
}

static void lines_disconnect(struct connection *c)
{
    stream_free(&c->stream);
    free(c->body);
    free(c);
}

static enum outcome lines_connect(struct driver *d, uint32_t worker,
                                  struct connection **connection, struct fault *fault)
{
    const uint64_t row = lines_row_bytes(&d->lines, d->first_column, d->column_count);
    const uint64_t rows = d->setup->spec->rows_per_request;
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->body_size = rows < BODY_BYTES / row ? (rows + 1) * row : BODY_BYTES;
    c->body = malloc(c->body_size);
    if (!c->body) {
        lines_disconnect(c);
        return no_memory(fault);
    }
    if (!d->setup->is_sending_stubbed && reach(c, fault) != OUTCOME_OK) {
        lines_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

/* One piece of a request. */
static enum outcome post(struct connection *c, size_t length, struct fault *fault)
{
    const struct driver *d = c->driver;
    struct http_reply reply;
    const enum outcome outcome = reach(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!http_post(&c->stream, d->host, d->path, "Content-Type: text/plain; charset=utf-8\r\n",
                   c->body, length, &reply))
        return broken(&c->stream, fault);
    if (reply.status >= 200 && reply.status < 300)
        return OUTCOME_OK;
    char code[32];
    snprintf(code, sizeof code, "HTTP%d", reply.status);
    fault_set(fault, FAULT_SERVER, code, "HTTP status %d: %.400s", reply.status, reply.body);
    return OUTCOME_ERROR;
}

static enum outcome lines_send(struct connection *c, const struct batch *batch,
                               uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    enum outcome outcome = OUTCOME_OK;
    uint32_t rows;
    c->place.slice = c->place.row = c->place.ahead.end = 0;
    stream_deadline(&c->stream, deadline_ns);
    for (*rows_acked = 0; outcome == OUTCOME_OK && *rows_acked < batch->rows;) {
        const char *end =
            lines_put(&d->lines, batch, &c->place, c->body, c->body_size, &rows);
        if (!d->setup->is_sending_stubbed)
            outcome = post(c, (size_t)(end - c->body), fault);
        if (outcome == OUTCOME_OK)
            *rows_acked += rows;
    }
    return outcome;
}

static void lines_close(struct driver *d)
{
    lines_free(&d->lines);
    free(d);
}

static uint64_t row_bytes(const struct driver *d)
{
    return lines_row_bytes(&d->lines, d->first_column, d->column_count);
}

extern const struct driver_ops driver_lines;
const struct driver_ops driver_lines = {
    .abi = DRIVER_ABI,
    .name = "lines",
    .methods = methods,
    .options = options,
    .open = lines_open,
    .place = lines_place,
    .connect = lines_connect,
    .send = lines_send,
    .disconnect = lines_disconnect,
    .close = lines_close,
    .row_bytes = row_bytes,
};
