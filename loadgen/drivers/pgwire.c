/* The driver of databases that take INSERT by the PostgreSQL protocol and have no COPY: no client
 * library. Method: `insert`; see pgwire_send.c. Options:
 *   parted=1  table t is of the SQL table <table>_p<t mod partitions>
 * A table of the load is a device: its name d<t> and its tags are columns of text. */
#include <stdlib.h>

#include "pgwire_parts.h"

enum { DEFAULT_PORT = 5432 };

static const struct driver_method methods[] = {
    {"insert", FEATURE_DEADLINE | FEATURE_SEPARABLE, NULL}, {NULL, 0, NULL}};
static const char *const options[] = {"parted", NULL};

static enum outcome refuse(struct fault *fault, const char *why)
{
    fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
    return OUTCOME_FATAL;
}

/* The columns of a request. A timestamp is written as the whole number that it is. */
static enum outcome take_columns(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    const struct schema *schema = d->setup->schema;
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : schema->column_count;
    d->columns = calloc(d->column_count, sizeof *d->columns);
    if (!d->columns)
        return fault_no_memory(fault);
    for (uint32_t i = 0; i < d->column_count; i++) {
        struct column *column = &d->columns[i];
        *column = schema->columns[d->first_column + i];
        if (column->type == TYPE_TIMESTAMP)
            column->type = TYPE_BIGINT;
        if (column->type == TYPE_UBIGINT || column->type == TYPE_VARBINARY ||
            column->type == TYPE_GEOMETRY) {
            fault_set(fault, FAULT_SPEC, "SPEC", "columns: an INSERT has no way to write %s:%s",
                      column->name, type_name(column->type));
            return OUTCOME_FATAL;
        }
    }
    return OUTCOME_OK;
}

static enum outcome pgwire_open(const struct driver_setup *setup, struct driver **driver,
                                struct fault *fault)
{
    const struct spec *spec = setup->spec;
    uint64_t is_parted = 0;
    char why[160];
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->host = spec->host ? spec->host : "localhost";
    d->port = spec->port ? (uint16_t)spec->port : DEFAULT_PORT;
    d->user = spec->user ? spec->user : "admin";
    d->database = spec->database ? spec->database : "qdb";
    d->table = spec->table ? spec->table : "measurement";
    if (!spec_option_whole(spec, "parted", 0, 1, &is_parted, why, sizeof why))
        return refuse(fault, why);
    d->is_parted = is_parted;
    d->parts = is_parted ? (uint32_t)spec->partitions : 1;
    const enum outcome outcome = take_columns(d, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (2 + (uint64_t)setup->schema->tag_count + d->column_count > PGWIRE_PARAMETERS_MAX)
        return refuse(fault, "columns: more than one statement has parameters for");
    if (!pgwire_make_heads(d))
        return fault_no_memory(fault);
    if (pgwire_row_bytes(d) > PGWIRE_STATEMENT_BYTES)
        return refuse(fault, "columns: a row is longer than the server reads at once");
    return OUTCOME_OK;
}

static enum outcome pgwire_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    (void)fault;
    for (uint32_t table = 0; table < spec->tables; table++)
        partition_of[table] = table % (uint32_t)spec->partitions;
    return OUTCOME_OK;
}

static void pgwire_disconnect(struct connection *c)
{
    stream_free(&c->stream);
    free(c->body);
    free(c->is_prepared);
    free(c->is_present);
    free(c);
}

static enum outcome pgwire_connect(struct driver *d, uint32_t worker,
                                   struct connection **connection, struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->body = malloc(PGWIRE_WINDOW_BYTES);
    c->is_prepared = calloc((size_t)d->parts * PGWIRE_SIZES, sizeof *c->is_prepared);
    c->is_present = calloc(d->parts, sizeof *c->is_present);
    if (!c->body || !c->is_prepared || !c->is_present) {
        pgwire_disconnect(c);
        return fault_no_memory(fault);
    }
    if (!d->setup->is_sending_stubbed && pgwire_reach(c, fault) != OUTCOME_OK) {
        pgwire_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

static void pgwire_close(struct driver *d)
{
    free(d->heads);
    free(d->head_at);
    free(d->columns);
    free(d);
}

extern const struct driver_ops driver_pgwire;
const struct driver_ops driver_pgwire = {
    .abi = DRIVER_ABI,
    .name = "pgwire",
    .methods = methods,
    .options = options,
    .open = pgwire_open,
    .place = pgwire_place,
    .connect = pgwire_connect,
    .send = pgwire_send,
    .disconnect = pgwire_disconnect,
    .close = pgwire_close,
    .row_bytes = pgwire_row_bytes,
    .table_name = pgwire_table_name,
};
