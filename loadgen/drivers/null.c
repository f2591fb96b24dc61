/* The driver without a database: it measures us. It acknowledges every row at once and looks
 * at none, unless one of its own keys asks for more:
 *   null_latency_us=N   sleeps so long in each request, as a server would (not beyond the deadline)
 *   null_fail_every=N   every Nth request of a connection is an ERROR
 *   null_servers=N, null_service_us=N, null_law=LAW and the others of SIMULATED_OPTIONS
 *                       a simulated server answers: see ../simulated.h
 *   null_answer_rows=N  rows of an answer, 1 by default
 *   null_fatal_after=N  the request after N of a connection is FATAL
 *   dump=FILE           writes each row (verb tables: each table's tags) to FILE.<worker>, and of
 *                       each query its operation and its parameters, after a word `ask` */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../deadline.h"
#include "../digest.h"
#include "../marks.h"
#include "../simulated.h"
#include "../tags.h"
#include "driver.h"

static void dump_text(FILE *file, const struct column *column, const void *value, int32_t length)
{
    const unsigned char *bytes = value;
    if (column->type == TYPE_BINARY || column->type == TYPE_NCHAR)
        fwrite(value, 1, (size_t)length, file);
    else
        for (int32_t i = 0; i < length; i++)
            fprintf(file, "%02x", bytes[i]);
}

/* A truth is 0 or 1. */
static void dump_fixed(FILE *file, enum type type, const void *value)
{
    char text[TYPE_TEXT_BYTES];
    fwrite(text, 1, type_print(type == TYPE_BOOL ? TYPE_UTINYINT : type, value, text), file);
}

static void dump_row(FILE *file, const struct batch *batch, const struct slice *slice, uint32_t i)
{
    const uint32_t at = slice->offset + i;
    fprintf(file, "%" PRIu32 ",%" PRIu64 ",%" PRId64, slice->table, slice->first_row + i,
            batch->times[at]);
    for (uint32_t c = batch->first_column; c < batch->first_column + batch->column_count; c++) {
        const struct column *column = &batch->schema->columns[c];
        const struct column_data *data = &batch->columns[c];
        const char *value = (const char *)data->values + (size_t)at * column->width;
        fputc(',', file);
        if (data->nulls && data->nulls[at])
            fputs("NULL", file);
        else if (type_is_text(column->type))
            dump_text(file, column, value, data->lengths[at]);
        else
            dump_fixed(file, column->type, value);
    }
    fputc('\n', file);
}

static void dump_ask(FILE *file, uint32_t operation, const struct parameter *parameters,
                     uint32_t count)
{
    fprintf(file, "ask,%" PRIu32, operation);
    for (const struct parameter *p = parameters; p < parameters + count; p++) {
        fputs(p->is_table ? ",d" : ",", file);
        if (p->type == TYPE_BINARY) {
            fwrite(p->value, 1, (size_t)p->length, file);
            continue;
        }
        dump_fixed(file, p->is_table ? TYPE_UINT : p->type, p->is_table ? &p->table : p->value);
    }
    fputc('\n', file);
}

struct driver {
    const struct driver_setup *setup;
    const char *dump;
    struct simulated *simulated; /* NULL: every request is answered at once */
    uint64_t latency_us, fail_every, fatal_after, answer_rows;
};

struct connection {
    struct driver *driver;
    uint64_t requests;
    uint32_t parameters[OPERATIONS_MAX]; /* number of parameters of each operation */
    FILE *dump;
};

static const struct driver_method methods[] = {
    {"discard", FEATURE_DEADLINE | FEATURE_SEPARABLE, NULL}, {NULL, 0, NULL}};

static const char *const options[] = {"dump",
                                      "null_latency_us",
                                      "null_fail_every",
                                      "null_fatal_after",
                                      "null_answer_rows",
                                      SIMULATED_OPTIONS,
                                      NULL};

static enum outcome null_open(const struct driver_setup *setup, struct driver **driver,
                              struct fault *fault)
{
    const struct spec *spec = setup->spec;
    char why[160];
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->dump = spec_option(spec, "dump");
    d->answer_rows = 1;
    if (!driver_option(spec, "null_latency_us", 0, 1ull << 40, &d->latency_us, fault) ||
        !driver_option(spec, "null_answer_rows", 0, 1ull << 32, &d->answer_rows, fault) ||
        !driver_option(spec, "null_fail_every", 0, INT64_MAX, &d->fail_every, fault) ||
        !driver_option(spec, "null_fatal_after", 0, INT64_MAX, &d->fatal_after, fault))
        return OUTCOME_FATAL;
    return simulated_open(spec, &d->simulated, why, sizeof why) ? OUTCOME_OK
                                                                : fault_spec(fault, "%s", why);
}

static enum outcome null_connect(struct driver *driver, uint32_t worker,
                                 struct connection **connection, struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    if (!c)
        return fault_no_memory(fault);
    c->driver = driver;
    if (driver->dump) {
        char path[4096];
        snprintf(path, sizeof path, "%s.%" PRIu32, driver->dump, worker);
        c->dump = fopen(path, "a");
        if (!c->dump) {
            fault_set(fault, FAULT_SPEC, "DUMP", "dump: cannot write '%s': %s", path,
                      strerror(errno));
            free(c);
            return OUTCOME_FATAL;
        }
    }
    *connection = c;
    return OUTCOME_OK;
}

static enum outcome pretend(struct connection *c, uint64_t rows, uint64_t deadline_ns,
                            struct fault *fault)
{
    const struct driver *d = c->driver;
    c->requests++;
    if (d->latency_us && !deadline_sleep_us(deadline_ns, d->latency_us))
        return fault_late(fault, "null_latency_us is longer");
    if (d->simulated && !deadline_sleep_until(deadline_ns, simulated_request(d->simulated, rows)))
        return fault_late(fault, "the simulated server has not served it");
    if (d->simulated)
        simulated_answered(d->simulated);
    if (d->fatal_after && c->requests > d->fatal_after) {
        fault_set(fault, FAULT_SERVER, "NULL_FATAL", "null_fatal_after reached");
        return OUTCOME_FATAL;
    }
    if (d->fail_every && c->requests % d->fail_every == 0)
        return fault_set(fault, FAULT_SERVER, "NULL_FAIL", "null_fail_every reached");
    return OUTCOME_OK;
}

static enum outcome null_send(struct connection *c, const struct batch *batch, uint64_t deadline_ns,
                              uint64_t *rows_acked, struct fault *fault)
{
    const enum outcome outcome = pretend(c, batch->rows, deadline_ns, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (uint32_t s = 0; c->dump && s < batch->slice_count; s++)
        for (uint32_t i = 0; i < batch->slices[s].rows; i++)
            dump_row(c->dump, batch, &batch->slices[s], i);
    *rows_acked = batch->rows;
    return OUTCOME_OK;
}

static size_t null_table_name(const struct driver *driver, uint32_t table,
                              char out[DRIVER_NAME_MAX])
{
    (void)driver;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "%" PRIu32, table);
}

static enum outcome null_prepare(struct connection *c, uint32_t operation, const char *text,
                                 struct fault *fault)
{
    char why[128];
    struct marks marks;
    if (!marks_read(&marks, text, why, sizeof why))
        return fault_spec(fault, "%s", why);
    c->parameters[operation] = marks.parameter_count;
    return OUTCOME_OK;
}

static uint64_t bits_of(const struct parameter *parameter)
{
    uint64_t bits = parameter->table;
    if (parameter->type == TYPE_BINARY)
        return digest_text(0, parameter->value, (size_t)parameter->length);
    if (!parameter->is_table)
        memcpy(&bits, parameter->value, sizeof bits);
    return bits;
}

/* Each row as wide as a row of the load. */
static enum outcome null_ask(struct connection *c, uint32_t operation,
                             const struct parameter *parameters, uint64_t deadline_ns,
                             struct answer *answer, struct fault *fault)
{
    const struct driver *d = c->driver;
    const uint32_t count = c->parameters[operation];
    const enum outcome outcome = pretend(c, 0, deadline_ns, fault);
    if (outcome == OUTCOME_OK && c->dump)
        dump_ask(c->dump, operation, parameters, count);
    answer->rows = d->answer_rows;
    answer->values = d->answer_rows * (d->setup->schema->column_count + 1);
    answer->bytes = d->answer_rows * schema_row_bytes(d->setup->schema);
    for (uint32_t i = 0; answer->wants_digest && i < count; i++)
        answer->digest = digest_word(answer->digest, bits_of(&parameters[i]));
    return outcome;
}

static void null_disconnect(struct connection *c)
{
    if (c->dump)
        fclose(c->dump);
    free(c);
}

static void null_close(struct driver *driver)
{
    simulated_close(driver->simulated);
    free(driver);
}

static enum outcome null_create_tables(struct connection *connection, uint32_t first,
                                       uint32_t count, struct fault *fault)
{
    const struct driver_setup *setup = connection->driver->setup;
    char tag[TAG_TEXT_MAX];
    (void)fault;
    for (uint32_t table = first; connection->dump && table < first + count; table++) {
        fprintf(connection->dump, "%" PRIu32, table);
        for (uint32_t i = 0; i < setup->schema->tag_count; i++) {
            tag_literal(setup->spec, setup->schema, i, table, tag);
            fprintf(connection->dump, ",%s", tag);
        }
        fputc('\n', connection->dump);
    }
    return OUTCOME_OK;
}

const struct driver_ops driver_null = {
    .abi = DRIVER_ABI,
    .name = "null",
    .methods = methods,
    .options = options,
    .open = null_open,
    .place = driver_place_in_turn,
    .connect = null_connect,
    .send = null_send,
    .disconnect = null_disconnect,
    .close = null_close,
    .create_tables = null_create_tables,
    .table_name = null_table_name,
    .prepare = null_prepare,
    .ask = null_ask,
};
