/* The driver of CrateDB by version 3 of the PostgreSQL protocol: a request is one prepared INSERT
 * INTO "measurement" (device_id, time, ...) (SELECT * FROM UNNEST($1, $2, ...)) with a binary array
 * for each column, in pieces above 8 MiB. device_id is the table's number, time in ms since 1970.
 * Without transactions, a number of stored rows that is not the request's is a fault. */
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"
#include "pg_session.h"
#include "pg_values.h"

enum {
    OWN_COLUMNS = 2, /* device and time */
    MESSAGE_BYTES = 1 << 23,
    FRAME_BYTES = 64, /* most bytes around the arrays of a message */
    ARRAY_BYTES = 24, /* before the values, with its length */
    DEVICE_BYTES = 4 + 4,
    TIME_BYTES = 4 + 8
};

struct driver {
    const struct driver_setup *setup;
    struct pg_server server;
    const char *table;
    uint32_t first_column, column_count;
    struct column *columns; /* a timestamp is a whole number here */
};

struct connection {
    const struct driver *driver;
    struct stream stream;
    uint8_t *message;
    uint32_t rows_max; /* rows of a message */
};

static const struct pg_array {
    unsigned element, array; /* object ids */
    const char *name;
} arrays[] = {
    {OID_BOOL, 1000, "BOOLEAN"}, {OID_INT2, 1005, "SMALLINT"},
    {OID_INT4, 1007, "INTEGER"}, {OID_INT8, 1016, "BIGINT"},
    {OID_FLOAT4, 1021, "REAL"},  {OID_FLOAT8, 1022, "DOUBLE PRECISION"},
    {OID_VARCHAR, 1015, "TEXT"},
};

static const struct pg_array *array_of(unsigned element)
{
    size_t i = 0;
    while (arrays[i].element != element)
        i++;
    return &arrays[i];
}

static const struct pg_array *parameter(const struct driver *d, uint32_t place)
{
    if (place < OWN_COLUMNS)
        return array_of(place == 0 ? OID_INT4 : OID_INT8);
    return array_of(pg_oid(d->columns[place - OWN_COLUMNS].type));
}

static uint8_t *put_statement(const struct driver *d, uint8_t *out)
{
    out = pg_put_words(out, "INSERT INTO \"%s\" (device_id, time", d->table);
    for (uint32_t i = 0; i < d->column_count; i++)
        out = pg_put_words(out, ", \"%s\"", d->columns[i].name);
    out = pg_put_words(out, ") (SELECT * FROM UNNEST(");
    for (uint32_t i = 0; i < OWN_COLUMNS + d->column_count; i++)
        out = pg_put_words(out, "%s$%u::ARRAY(%s)", i ? ", " : "", (unsigned)i + 1,
                           parameter(d, i)->name);
    return pg_put_words(out, "))") + 1;
}

static enum outcome prepare(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    const uint32_t count = OWN_COLUMNS + d->column_count;
    uint8_t *const text = malloc(256 + strlen(d->table) + (size_t)count * (NAME_MAX_BYTES + 48));
    if (!text)
        return fault_no_memory(fault);
    uint8_t *out = text + 5;
    *out++ = 'i';
    *out++ = 0;
    out = put_u16(put_statement(d, out), (uint16_t)count);
    for (uint32_t i = 0; i < count; i++)
        out = put_u32(out, parameter(d, i)->array);
    out = pg_end_message(text, 'P', out);
    const enum outcome outcome = pg_prepare(&c->stream, text, out, 1, pg_sync, fault);
    free(text);
    return outcome;
}

static enum outcome reach(struct connection *c, struct fault *fault)
{
    if (c->stream.fd >= 0)
        return OUTCOME_OK;
    enum outcome outcome = pg_connect(&c->stream, &c->driver->server, fault);
    if (outcome == OUTCOME_OK)
        outcome = prepare(c, fault);
    if (outcome != OUTCOME_OK)
        stream_close(&c->stream);
    return outcome;
}

static uint64_t row_values_bytes(const struct driver *d)
{
    uint64_t bytes = DEVICE_BYTES + TIME_BYTES;
    for (uint32_t i = 0; i < d->column_count; i++)
        bytes += 4 + (uint64_t)pg_wire_bytes(&d->columns[i]);
    return bytes;
}

static uint64_t frame_bytes(const struct driver *d)
{
    return FRAME_BYTES + (OWN_COLUMNS + (uint64_t)d->column_count) * ARRAY_BYTES;
}

static uint8_t *put_devices(const struct batch *batch, uint32_t first, uint32_t count, uint8_t *out)
{
    const struct slice *slice = batch->slices;
    for (uint32_t row = first; row < first + count; row++) {
        while (row >= slice->offset + slice->rows)
            slice++;
        out = put_u32(put_u32(out, 4), slice->table);
    }
    return out;
}

static uint8_t *put_times(const struct batch *batch, uint32_t first, uint32_t count, uint8_t *out)
{
    for (uint32_t row = first; row < first + count; row++)
        out = put_u64(put_u32(out, 8), (uint64_t)batch->times[row]);
    return out;
}

static uint8_t *put_column(const struct driver *d, const struct batch *batch, uint32_t i,
                           uint32_t first, uint32_t count, uint8_t *out)
{
    const struct us_ratio us = pg_us_ratio(d->setup->spec);
    const struct column_data *data = &batch->columns[batch->first_column + i];
    for (uint32_t row = first; row < first + count; row++)
        out = pg_put_field(&us, out, &d->columns[i], data, row);
    return out;
}

static uint8_t *put_insert(const struct driver *d, const struct batch *batch, uint32_t first,
                           uint32_t count, uint8_t *message)
{
    uint8_t *out = message + 5;
    *out++ = 0; /* the portal without a name */
    *out++ = 'i';
    *out++ = 0;
    out = put_u16(put_u16(out, 1), FORMAT_BINARY);
    out = put_u16(out, (uint16_t)(OWN_COLUMNS + d->column_count));
    for (uint32_t i = 0; i < OWN_COLUMNS + d->column_count; i++) {
        uint8_t *const begin = out;
        out = pg_put_array_start(out + 4, parameter(d, i)->element, true, count);
        out = i == 0   ? put_devices(batch, first, count, out)
              : i == 1 ? put_times(batch, first, count, out)
                       : put_column(d, batch, i - OWN_COLUMNS, first, count, out);
        put_u32(begin, (uint32_t)(out - begin - 4));
    }
    return pg_put_execute(pg_end_message(message, 'B', put_u16(out, 0)));
}

/* With a Sync behind it; reads until the server is ready for more. */
static enum outcome fly(struct connection *c, const uint8_t *end, uint64_t *acked,
                        struct fault *fault)
{
    struct pg_answer answer;
    enum outcome outcome = OUTCOME_OK;
    if (!stream_write(&c->stream, c->message, (size_t)(end - c->message), pg_sync, PG_MARK_BYTES))
        return stream_fault(&c->stream, fault);
    for (;;) {
        if (!pg_read(&c->stream, &answer))
            return stream_fault(&c->stream, fault);
        if (answer.kind == 'Z')
            return outcome;
        if (answer.kind == 'C') {
            *acked += pg_rows(&answer);
        } else if (answer.kind == 'E') {
            outcome = pg_refused(&answer, fault);
        } else if (answer.kind != '2') {
            stream_close(&c->stream);
            return pg_refused(&answer, fault);
        }
    }
}

static enum outcome arrays_send(struct connection *c, const struct batch *batch,
                                uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    const bool is_stubbed = d->setup->is_sending_stubbed;
    enum outcome outcome = OUTCOME_OK;
    uint64_t acked = 0;
    *rows_acked = 0;
    stream_deadline(&c->stream, deadline_ns);
    if (!is_stubbed)
        outcome = reach(c, fault);
    for (uint32_t first = 0, count; outcome == OUTCOME_OK && first < batch->rows; first += count) {
        count = batch->rows - first < c->rows_max ? batch->rows - first : c->rows_max;
        const uint8_t *end = put_insert(d, batch, first, count, c->message);
        if (is_stubbed)
            acked += count;
        else
            outcome = fly(c, end, &acked, fault);
    }
    return outcome == OUTCOME_OK ? pg_acknowledge(acked, batch, rows_acked, fault) : outcome;
}

static const struct driver_method methods[] = {
    {"arrays", FEATURE_DEADLINE | FEATURE_SEPARABLE, NULL}, {NULL, 0, NULL}};
static const char *const options[] = {NULL};

static enum outcome arrays_open(const struct driver_setup *setup, struct driver **driver,
                                struct fault *fault)
{
    const struct spec *spec = setup->spec;
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->server = pg_server_of(setup, "crate", "doc");
    d->table = spec->table ? spec->table : "measurement";
    if (spec->precision != PRECISION_MS)
        return fault_spec(fault, "precision: times are written in whole milliseconds");
    const enum outcome outcome =
        pg_take_columns(setup, "an array", &d->columns, &d->first_column, &d->column_count, fault);
    if (outcome == OUTCOME_OK && OWN_COLUMNS + (uint64_t)d->column_count > INT16_MAX)
        return fault_spec(fault, "columns: more than one statement has parameters for");
    if (outcome == OUTCOME_OK && frame_bytes(d) + row_values_bytes(d) > MESSAGE_BYTES)
        return fault_spec(fault, "columns: a row is longer than one message");
    return outcome;
}

static void arrays_disconnect(struct connection *c)
{
    stream_free(&c->stream);
    free(c->message);
    free(c);
}

static enum outcome arrays_connect(struct driver *d, uint32_t worker,
                                   struct connection **connection, struct fault *fault)
{
    const uint64_t rows = d->setup->spec->rows_per_request;
    const uint64_t most = (MESSAGE_BYTES - frame_bytes(d)) / row_values_bytes(d);
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->rows_max = (uint32_t)(rows < most ? rows : most);
    c->message = malloc(frame_bytes(d) + c->rows_max * row_values_bytes(d));
    if (!c->message) {
        arrays_disconnect(c);
        return fault_no_memory(fault);
    }
    if (!d->setup->is_sending_stubbed && reach(c, fault) != OUTCOME_OK) {
        arrays_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

static void arrays_close(struct driver *d)
{
    free(d->columns);
    free(d);
}

static size_t arrays_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    (void)d;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "%u", (unsigned)table);
}

const struct driver_ops driver_pgarrays = {
    .abi = DRIVER_ABI,
    .name = "pgarrays",
    .methods = methods,
    .options = options,
    .open = arrays_open,
    .place = driver_place_in_turn,
    .connect = arrays_connect,
    .send = arrays_send,
    .disconnect = arrays_disconnect,
    .close = arrays_close,
    .row_bytes = row_values_bytes,
    .table_name = arrays_table_name,
};
