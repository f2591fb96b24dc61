/* The driver of Cassandra, by CQL's native protocol version 4: no client library. A request's rows
 * go as unlogged batches of one prepared statement, each of one device and so of one partition; all
 * batches of a request are in flight on its connection before the first answer is waited for.
 * Option: batch_rows=100, the most rows of a batch. */
#include <stdio.h>
#include <stdlib.h>

#include "cassandra_rows.h"
#include "driver.h"

enum { DEFAULT_PORT = 9042, BODY_BYTES = 1 << 22, IN_FLIGHT_MAX = 1024, STATEMENT_BYTES = 1 << 19 };

struct driver {
    const struct driver_setup *setup;
    const char *host;
    uint16_t port;
    uint32_t first_column, column_count;
    uint64_t batch_rows;
    char *insert;
};

struct connection {
    const struct driver *driver;
    struct stream stream;
    uint8_t id[CQL_ID_MAX]; /* of the prepared statement */
    uint16_t id_length;
    uint8_t *body;
    uint32_t flown; /* batches of this piece of the request */
    uint32_t rows[IN_FLIGHT_MAX]; /* of each of them */
};

static const struct driver_method methods[] = {{"batch", FEATURE_DEADLINE | FEATURE_SEPARABLE},
                                               {NULL, 0}};
static const char *const options[] = {"batch_rows", NULL};

static enum outcome no_memory(struct fault *fault)
{
    fault_set(fault, FAULT_SERVER, "MEMORY", "out of memory");
    return OUTCOME_FATAL;
}

static uint64_t row_bytes(const struct driver *d)
{
    return 3 + CQL_ID_MAX + cassandra_row_bytes(d->setup->schema, d->first_column, d->column_count);
}

/* INSERT INTO table (device, ts, "c", ...) VALUES (?, ?, ?, ...) */
static bool write_insert(struct driver *d)
{
    const struct spec *spec = d->setup->spec;
    const struct column *columns = d->setup->schema->columns + d->first_column;
    size_t used;
    d->insert = malloc(STATEMENT_BYTES);
    if (!d->insert)
        return false;
    used = (size_t)snprintf(d->insert, STATEMENT_BYTES / 2, "INSERT INTO %s (device, ts",
                            spec->table ? spec->table : "scale.measurement");
    for (uint32_t i = 0; i < d->column_count; i++)
        used += (size_t)sprintf(d->insert + used, ", \"%s\"", columns[i].name);
    used += (size_t)sprintf(d->insert + used, ") VALUES (?, ?");
    for (uint32_t i = 0; i < d->column_count; i++)
        used += (size_t)sprintf(d->insert + used, ", ?");
    sprintf(d->insert + used, ")");
    return true;
}

static enum outcome refuse(struct fault *fault, const char *why)
{
    fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
    return OUTCOME_FATAL;
}

static enum outcome cassandra_open(const struct driver_setup *setup, struct driver **driver,
                                   struct fault *fault)
{
    const struct spec *spec = setup->spec;
    char why[160];
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->host = spec->host ? spec->host : "localhost";
    d->port = spec->port ? (uint16_t)spec->port : DEFAULT_PORT;
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    d->batch_rows = 100;
    if (!spec_option_whole(spec, "batch_rows", 1, 65535, &d->batch_rows, why, sizeof why))
        return refuse(fault, why);
    if (spec->precision != PRECISION_MS)
        return refuse(fault, "precision: a timestamp of CQL has milliseconds only");
    const struct column *lacking = cassandra_lacks(setup->schema, d->first_column, d->column_count);
    if (lacking) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: CQL has no type for %s:%s", lacking->name,
                  type_name(lacking->type));
        return OUTCOME_FATAL;
    }
    if (row_bytes(d) * d->batch_rows > BODY_BYTES / 2)
        return refuse(fault, "batch_rows: a batch of so many rows is too long");
    return write_insert(d) ? OUTCOME_OK : no_memory(fault);
}

static enum outcome cassandra_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    (void)fault;
    for (uint32_t table = 0; table < spec->tables; table++)
        partition_of[table] = table % (uint32_t)spec->partitions;
    return OUTCOME_OK;
}

static enum outcome broken(const struct stream *stream, struct fault *fault)
{
    if (stream->is_late)
        return fault_late(fault, "the server has not answered all of its batches");
    fault_set(fault, FAULT_SERVER, "CONNECTION", "%s", stream->problem);
    return OUTCOME_ERROR;
}

static enum outcome refused(const struct cql_answer *answer, struct fault *fault)
{
    char code[16];
    snprintf(code, sizeof code, "0x%04X", answer->code);
    if (answer->opcode == CQL_ERROR)
        fault_set(fault, FAULT_SERVER, code, "%s", answer->words);
    else
        fault_set(fault, FAULT_SERVER, "PROTOCOL", "an answer of kind 0x%02X was not expected",
                  answer->opcode);
    return OUTCOME_ERROR;
}

/* Kind 4 of a result: the statement's id, as short bytes. */
static bool keep_id(struct connection *c, const struct cql_answer *answer)
{
    const uint8_t *body = answer->body;
    if (answer->opcode != CQL_RESULT || answer->length < 6 || body[3] != 4)
        return false;
    const uint16_t length = (uint16_t)(body[4] << 8 | body[5]);
    if (length > CQL_ID_MAX || length + 6u > answer->length)
        return false;
    c->id_length = length;
    memcpy(c->id, body + 6, length);
    return true;
}

static enum outcome reach(struct connection *c, struct fault *fault)
{
    static const char startup[] = "\0\1\0\13CQL_VERSION\0\0053.0.0";
    const struct driver *d = c->driver;
    struct cql_answer answer;
    if (c->stream.fd >= 0)
        return OUTCOME_OK;
    if (!stream_open(&c->stream, d->host, d->port) ||
        !cql_ask(&c->stream, CQL_STARTUP, startup, sizeof startup - 1, false, &answer)) {
        const enum outcome outcome = broken(&c->stream, fault);
        fault->is_transient = outcome == OUTCOME_ERROR; /* no row was sent */
        return outcome;
    }
    if (answer.opcode == CQL_READY) {
        if (!cql_ask(&c->stream, CQL_PREPARE, d->insert, strlen(d->insert), true, &answer))
            return broken(&c->stream, fault);
        if (keep_id(c, &answer))
            return OUTCOME_OK;
    }
    stream_close(&c->stream);
    return refused(&answer, fault);
}

static void cassandra_disconnect(struct connection *c)
{
    stream_free(&c->stream);
    free(c->body);
    free(c);
}

static enum outcome cassandra_connect(struct driver *d, uint32_t worker,
                                      struct connection **connection, struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->id_length = 16;
    c->body = malloc(BODY_BYTES);
    if (!c->body) {
        cassandra_disconnect(c);
        return no_memory(fault);
    }
    if (!d->setup->is_sending_stubbed && reach(c, fault) != OUTCOME_OK) {
        cassandra_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

/* A frame with `rows` rows of the slice from `first` on. */
static uint8_t *put_batch(struct connection *c, const struct batch *batch,
                          const struct slice *slice, uint32_t first, uint32_t rows, uint8_t *out)
{
    uint8_t *const head = out;
    out += CQL_HEAD_BYTES;
    *out++ = 1; /* unlogged */
    out = cql_put16(out, (uint16_t)rows);
    for (uint32_t i = 0; i < rows; i++) {
        *out++ = 1; /* a prepared statement */
        out = cql_put16(out, c->id_length);
        memcpy(out, c->id, c->id_length);
        out = cassandra_put_row(out + c->id_length, batch, slice->table, slice->offset + first + i);
    }
    out = cql_put16(out, 1); /* consistency ONE */
    *out++ = 0;              /* no flags */
    cql_head(head, CQL_BATCH, (uint16_t)c->flown, (uint32_t)(out - head) - CQL_HEAD_BYTES);
    c->rows[c->flown++] = rows;
    return out;
}

/* Sends the batches that are in the body, and waits for the answer to each. */
static enum outcome fly(struct connection *c, size_t length, uint64_t *rows_acked,
                        struct fault *fault)
{
    struct cql_answer answer;
    enum outcome outcome = OUTCOME_OK;
    const uint32_t flown = c->flown;
    uint64_t rows = 0;
    c->flown = 0;
    if (!c->driver->setup->is_sending_stubbed) {
        outcome = reach(c, fault);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (!stream_write(&c->stream, c->body, length, NULL, 0))
            return broken(&c->stream, fault);
        for (uint32_t i = 0; i < flown; i++) {
            if (!cql_read(&c->stream, &answer))
                return broken(&c->stream, fault);
            if (answer.opcode != CQL_RESULT || answer.number >= flown)
                outcome = refused(&answer, fault);
        }
    }
    for (uint32_t i = 0; i < flown; i++)
        rows += c->rows[i];
    *rows_acked += outcome == OUTCOME_OK ? rows : 0;
    return outcome;
}

static enum outcome cassandra_send(struct connection *c, const struct batch *batch,
                                   uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    const uint64_t batch_rows = c->driver->batch_rows;
    const uint64_t most = row_bytes(c->driver) * batch_rows + 64;
    uint8_t *out = c->body;
    *rows_acked = 0;
    c->flown = 0;
    stream_deadline(&c->stream, deadline_ns);
    for (uint32_t s = 0; s < batch->slice_count; s++) {
        const struct slice *slice = &batch->slices[s];
        for (uint32_t first = 0; first < slice->rows;) {
            const uint32_t left = slice->rows - first;
            const uint32_t rows = left < batch_rows ? left : (uint32_t)batch_rows;
            if ((uint64_t)(c->body + BODY_BYTES - out) < most || c->flown == IN_FLIGHT_MAX) {
                const enum outcome outcome = fly(c, (size_t)(out - c->body), rows_acked, fault);
                if (outcome != OUTCOME_OK)
                    return outcome;
                out = c->body;
            }
            out = put_batch(c, batch, slice, first, rows, out);
            first += rows;
        }
    }
    return fly(c, (size_t)(out - c->body), rows_acked, fault);
}

static void cassandra_close(struct driver *d)
{
    free(d->insert);
    free(d);
}

extern const struct driver_ops driver_cassandra;
const struct driver_ops driver_cassandra = {
    .abi = DRIVER_ABI,
    .name = "cassandra",
    .methods = methods,
    .options = options,
    .open = cassandra_open,
    .place = cassandra_place,
    .connect = cassandra_connect,
    .send = cassandra_send,
    .disconnect = cassandra_disconnect,
    .close = cassandra_close,
    .row_bytes = row_bytes,
};
