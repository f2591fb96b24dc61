/* The driver of Cassandra, by CQL's native protocol version 4: no client library. A request's rows
 * go as unlogged batches of one prepared statement, each of one device and so of one partition; all
 * batches of a request are in flight on its connection before the first answer is waited for.
 * Options: batch_rows=100, the most rows of a batch; page_rows=5000, those of a page of an answer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cassandra_parts.h"
#include "cassandra_rows.h"

enum { DEFAULT_PORT = 9042, STATEMENT_BYTES = 1 << 19 };

static const struct driver_method methods[] = {
    {"batch", FEATURE_DEADLINE | FEATURE_SEPARABLE, NULL}, {NULL, 0, NULL}};
static const char *const options[] = {"batch_rows", "page_rows", NULL};

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
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->host = spec->host ? spec->host : "localhost";
    d->port = spec->port ? (uint16_t)spec->port : DEFAULT_PORT;
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    d->batch_rows = 100;
    d->page_rows = 5000;
    if (!spec_option_whole(spec, "batch_rows", 1, 65535, &d->batch_rows, why, sizeof why) ||
        !spec_option_whole(spec, "page_rows", 1, 1000000, &d->page_rows, why, sizeof why))
        return refuse(fault, why);
    if (spec->precision != PRECISION_MS)
        return refuse(fault, "precision: a timestamp of CQL has milliseconds only");
    const struct column *lacking = cassandra_lacks(setup->schema, d->first_column, d->column_count);
    if (lacking) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: CQL has no type for %s:%s", lacking->name,
                  type_name(lacking->type));
        return OUTCOME_FATAL;
    }
    if (row_bytes(d) * d->batch_rows > CASSANDRA_BODY_BYTES / 2)
        return refuse(fault, "batch_rows: a batch of so many rows is too long");
    return write_insert(d) ? OUTCOME_OK : fault_no_memory(fault);
}

static enum outcome cassandra_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    (void)fault;
    for (uint32_t table = 0; table < spec->tables; table++)
        partition_of[table] = table % (uint32_t)spec->partitions;
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
        out = cassandra_put_row(cql_put_id(out, &c->insert), batch, slice->table,
                                slice->offset + first + i);
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
        outcome = cassandra_reach(c, fault);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (!stream_write(&c->stream, c->body, length, NULL, 0))
            return cassandra_broken(&c->stream, fault);
        for (uint32_t i = 0; i < flown; i++) {
            if (!cql_read(&c->stream, &answer))
                return cassandra_broken(&c->stream, fault);
            if (answer.opcode != CQL_RESULT || answer.number >= flown)
                outcome = cassandra_refused(&answer, fault);
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
            if ((uint64_t)(c->body + CASSANDRA_BODY_BYTES - out) < most ||
                c->flown == CASSANDRA_IN_FLIGHT_MAX) {
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
    .table_name = cassandra_table_name,
    .check_ask = cassandra_check_ask,
    .prepare = cassandra_prepare,
    .ask = cassandra_ask,
};
