/* The driver of PostgreSQL, through libpq. A request is one statement; what counts as acknowledged
 * is the number in the server's "COPY n" or "INSERT 0 n". Methods: `copy`, which is
 * COPY table (time, device_id, columns...) FROM STDIN (FORMAT binary); `jsonb`, the same with all
 * columns in one of the type jsonb; `insert` and `upsert`, see postgres_insert.c. A table of the
 * load is a device_id; the SQL table, its partitions and its key are made by others. Options: none.
 */
#include "postgres.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FORM(method) (&(const enum postgres_method){method})
static const struct driver_method methods[] = {
    {"copy", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_COPY)},
    {"insert", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_INSERT)},
    {"upsert", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_UPSERT)},
    {"jsonb", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_JSONB)},
    {NULL, 0, NULL}};
static const char *const options[] = {NULL};

/* COPY's list of columns; false when they do not fit. */
static bool build_copy(struct driver *d)
{
    const struct schema *schema = d->setup->schema;
    const uint32_t first = postgres_first_column(d);
    const uint32_t count = d->method == METHOD_JSONB ? 0 : postgres_column_count(d);
    size_t used = (size_t)snprintf(d->copy, sizeof d->copy, "COPY %s (time, device_id%s", d->table,
                                   d->method == METHOD_JSONB ? ", metrics" : "");
    for (uint32_t i = first; i < first + count && used < sizeof d->copy; i++)
        used += (size_t)snprintf(d->copy + used, sizeof d->copy - used, ", \"%s\"",
                                 schema->columns[i].name);
    if (used < sizeof d->copy)
        used +=
            (size_t)snprintf(d->copy + used, sizeof d->copy - used, ") FROM STDIN (FORMAT binary)");
    return used < sizeof d->copy;
}

/* A piece of the buffer must hold at least one row. */
static bool check_row(const struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    const uint64_t bytes = d->method == METHOD_JSONB
                               ? postgres_json_row_bytes(schema, 0, schema->column_count)
                               : postgres_row_bytes(schema, 0, schema->column_count);
    if (bytes <= POSTGRES_BUFFER_BYTES && schema->column_count <= 1600)
        return true;
    fault_set(fault, FAULT_SPEC, "COLUMNS",
              "columns: a row of %" PRIu64 " bytes and %" PRIu32
              " columns is more than this driver sends (%d bytes, 1600 columns)",
              bytes, schema->column_count, POSTGRES_BUFFER_BYTES);
    return false;
}

/* What the method has of its own. */
static enum outcome open_method(struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    const uint32_t first = postgres_first_column(d), count = postgres_column_count(d);
    d->row_bytes = d->method == METHOD_JSONB ? postgres_json_row_bytes(schema, first, count)
                                             : postgres_row_bytes(schema, first, count);
    if (d->method == METHOD_JSONB && postgres_open_json(d, fault) != OUTCOME_OK)
        return OUTCOME_FATAL;
    if (d->method == METHOD_INSERT || d->method == METHOD_UPSERT)
        return postgres_open_insert(d, fault);
    if (build_copy(d))
        return OUTCOME_OK;
    fault_set(fault, FAULT_SPEC, "COLUMNS", "columns: the COPY statement grows too long");
    return OUTCOME_FATAL;
}

static enum outcome postgres_open(const struct driver_setup *setup, struct driver **driver,
                                  struct fault *fault)
{
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->table = setup->spec->table ? setup->spec->table : "measurement";
    d->method = *(const enum postgres_method *)setup->method->form;
    return check_row(d, fault) ? open_method(d, fault) : OUTCOME_FATAL;
}

static enum outcome load_library(struct driver *d, struct fault *fault)
{
    return postgres_load_library(&d->libpq, d->setup->spec->library, fault);
}

enum outcome postgres_fault(const struct libpq *p, PGconn *conn, const PGresult *result,
                            struct fault *fault)
{
    const char *state = result ? p->result_field(result, FIELD_SQLSTATE) : NULL;
    const char *message = result ? p->result_error(result) : NULL;
    const bool is_broken = p->status(conn) != CONNECTION_GOOD;
    if (!message || !*message)
        message = p->error(conn);
    fault_set(fault, FAULT_SERVER,
              state       ? state
              : is_broken ? "CONNECTION"
                          : "LIBPQ",
              "%s", message && *message ? message : "no answer that libpq understands");
    return is_broken ? OUTCOME_FATAL : OUTCOME_ERROR;
}

enum outcome postgres_connect(struct driver *driver, uint32_t worker,
                              struct connection **connection, struct fault *fault)
{
    const struct spec *spec = driver->setup->spec;
    char port[8] = "", timeout[16];
    (void)worker;
    snprintf(timeout, sizeof timeout, "%.0f", ceil(spec->connect_timeout_s));
    if (spec->port)
        snprintf(port, sizeof port, "%u", (unsigned)spec->port);
    const char *const keys[] = {
        "host", "port", "user", "dbname", "password", "application_name", "connect_timeout", NULL};
    const char *const values[] = {spec->socket_dir ? spec->socket_dir : spec->host,
                                  port,
                                  spec->user,
                                  spec->database,
                                  driver->setup->password,
                                  "scale-loadgen",
                                  timeout,
                                  NULL};
    struct connection *c = calloc(1, sizeof *c);
    if (!c || !(c->buffer = aligned_alloc(64, POSTGRES_BUFFER_SPACE))) {
        free(c);
        return fault_no_memory(fault);
    }
    c->driver = driver;
    if (driver->setup->is_sending_stubbed) {
        c->way = WAY_NOWHERE;
        *connection = c;
        return OUTCOME_OK;
    }
    c->conn = driver->libpq.connect(keys, values, 0);
    if (c->conn && driver->libpq.status(c->conn) == CONNECTION_GOOD) {
        *connection = c;
        return OUTCOME_OK;
    }
    fault_set(fault, FAULT_SERVER, "CONNECT", "%s",
              c->conn ? driver->libpq.error(c->conn) : "out of memory");
    postgres_disconnect(c);
    return OUTCOME_FATAL;
}

void postgres_disconnect(struct connection *c)
{
    if (c->conn)
        c->driver->libpq.finish(c->conn);
    postgres_free_asks(c);
    postgres_free_arrays(c);
    free(c->buffer);
    free(c);
}

enum outcome postgres_take_answer(struct connection *c, uint64_t *rows_acked, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    enum outcome outcome = OUTCOME_ERROR;
    bool has_fault = false;
    PGresult *result;
    while ((result = postgres_next_result(c)) != NULL) {
        if (p->result_status(result) == RES_COMMAND) {
            *rows_acked = strtoull(p->tuples_done(result), NULL, 10);
            outcome = OUTCOME_OK;
        } else if (!has_fault) {
            outcome = postgres_fault(p, c->conn, result, fault);
            has_fault = true;
        }
        p->clear(result);
    }
    if (outcome == OUTCOME_ERROR && !has_fault)
        outcome = postgres_fault(p, c->conn, NULL, fault);
    return p->status(c->conn) == CONNECTION_GOOD ? outcome : OUTCOME_FATAL;
}

/* The COPY statement, until the server asks for rows. */
static enum outcome begin_copy(struct connection *c, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    PGresult *result = NULL;
    if (p->send_query(c->conn, c->driver->copy) && postgres_flush(c))
        result = postgres_next_result(c);
    if (result && p->result_status(result) == RES_COPY_IN) {
        p->clear(result);
        return OUTCOME_OK;
    }
    if (c->is_late)
        return fault_late(fault, "the server did not begin the COPY");
    const enum outcome outcome = postgres_fault(p, c->conn, result, fault);
    for (; result; result = postgres_next_result(c)) /* so that the connection is good again */
        p->clear(result);
    return c->is_late ? fault_late(fault, "the server did not end its refusal") : outcome;
}

static enum outcome postgres_send(struct connection *c, const struct batch *batch,
                                  uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    if (c->driver->insert)
        return postgres_send_insert(c, batch, deadline_ns, rows_acked, fault);
    if (c->driver->setup->is_sending_stubbed) {
        *rows_acked = batch->rows;
        return postgres_send_rows(c, batch) ? OUTCOME_OK : OUTCOME_FATAL;
    }
    if (!postgres_begin(c, deadline_ns))
        return postgres_fault(p, c->conn, NULL, fault);
    enum outcome outcome = begin_copy(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    const bool is_sent =
        postgres_send_rows(c, batch) && p->put_end(c->conn, NULL) == 1 && postgres_flush(c);
    if (c->is_late)
        return fault_late(fault, "the server did not take the rows");
    outcome = postgres_take_answer(c, rows_acked, fault);
    if (c->is_late)
        return fault_late(fault, "the rows were sent, and not acknowledged");
    /* Broken off: the server's last words, if there are any, say why. */
    return !is_sent && outcome == OUTCOME_OK ? OUTCOME_FATAL : outcome;
}

static void postgres_close(struct driver *driver)
{
    /* The library stays open: it may have left handlers behind, and the process ends now. */
    free(driver->device_of);
    free(driver->insert);
    free(driver->json);
    free(driver);
}

static const char *library_path(const struct driver *driver)
{
    return driver->libpq.path;
}

static const char *library_version(const struct driver *driver)
{
    return driver->libpq.version;
}

static uint64_t row_bytes(const struct driver *driver)
{
    return driver->row_bytes;
}

const struct driver_ops driver_postgres = {
    .abi = DRIVER_ABI,
    .name = "postgres",
    .methods = methods,
    .options = options,
    .libraries = "libpq.so.5, libpq.so",
    .open = postgres_open,
    .load_library = load_library,
    .place = postgres_place,
    .connect = postgres_connect,
    .send = postgres_send,
    .disconnect = postgres_disconnect,
    .close = postgres_close,
    .library_path = library_path,
    .library_version = library_version,
    .row_bytes = row_bytes,
    .sql = postgres_sql,
    .table_name = postgres_table_name,
    .check_ask = postgres_check_ask,
    .prepare = postgres_prepare,
    .ask = postgres_ask,
};
