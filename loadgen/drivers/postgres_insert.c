/* Methods `insert` and `upsert`: a request is one prepared INSERT, whose parameters are arrays in
 * the binary format, one for each column; the server makes rows of them by unnest. So a request
 * has any number of rows (a statement has 65,535 parameters at most), is stored whole or not at
 * all, and is parsed once in a connection. `upsert` replaces the row that has the same device and
 * time; PostgreSQL refuses a statement that meets a row twice, so one that may is told to take
 * the devices and times once.
 *
 * The lengths of elements of fixed size are written once in a connection. Memory is allocated by
 * the first request. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_values.h"
#include "postgres.h"

enum {
    ARRAY_START_BYTES = 20,
    FIXED_ARRAYS = 2, /* time and device_id */
    ARRAYS_MAX = FIXED_ARRAYS + 1600,
    DEVICE_BYTES = 4,
    TIME_BYTES = 8,
    REQUEST_BYTES_MAX = 1000000000 /* the server takes no message of 1 GiB */
};

#define STATEMENT "scale_rows"

struct postgres_arrays { /* of one connection */
    bool is_prepared;
    int count;
    const char *values[ARRAYS_MAX];
    int lengths[ARRAYS_MAX], formats[ARRAYS_MAX];
    uint8_t *bytes;
};

struct array_type {
    unsigned element;
    const char *name;
};

static struct array_type array_type(enum type type)
{
    switch (type) {
    case TYPE_BOOL:
        return (struct array_type){OID_BOOL, "boolean[]"};
    case TYPE_TINYINT:
    case TYPE_UTINYINT:
    case TYPE_SMALLINT:
        return (struct array_type){OID_INT2, "smallint[]"};
    case TYPE_USMALLINT:
    case TYPE_INT:
        return (struct array_type){OID_INT4, "integer[]"};
    case TYPE_UINT:
    case TYPE_BIGINT:
    case TYPE_UBIGINT:
        return (struct array_type){OID_INT8, "bigint[]"};
    case TYPE_FLOAT:
        return (struct array_type){OID_FLOAT4, "real[]"};
    case TYPE_DOUBLE:
        return (struct array_type){OID_FLOAT8, "double precision[]"};
    case TYPE_TIMESTAMP:
        return (struct array_type){OID_TIMESTAMPTZ, "timestamptz[]"};
    case TYPE_VARBINARY:
    case TYPE_GEOMETRY:
        return (struct array_type){OID_BYTEA, "bytea[]"};
    default:
        return (struct array_type){OID_TEXT, "text[]"};
    }
}

/* The size of an array of so many elements, at most. */
static uint64_t array_bytes(uint32_t element_bytes, uint64_t rows)
{
    return ARRAY_START_BYTES + rows * (4 + (uint64_t)element_bytes);
}

static uint64_t request_bytes(const struct driver *d)
{
    const uint64_t rows = d->setup->spec->rows_per_request;
    const uint32_t first = postgres_first_column(d), count = postgres_column_count(d);
    uint64_t bytes = array_bytes(TIME_BYTES, rows) + array_bytes(DEVICE_BYTES, rows);
    for (uint32_t i = first; i < first + count; i++)
        bytes += array_bytes(pg_wire_bytes(&d->setup->schema->columns[i]), rows);
    return bytes;
}

struct text {
    char *bytes;
    size_t used, size;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->used +=
        (size_t)vsnprintf(text->bytes + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
}

/* Whether a request may have two rows of one device and time. */
static bool may_repeat(const struct spec *spec)
{
    return spec->disorder_ratio > 0 && spec->disorder_mode == DISORDER_POISSON;
}

static void write_statement(const struct driver *d, struct text *text)
{
    const struct column *columns = d->setup->schema->columns + postgres_first_column(d);
    const uint32_t count = postgres_column_count(d);
    const bool is_upsert = d->method == METHOD_UPSERT;
    add(text, "PREPARE " STATEMENT " (timestamptz[], integer[]");
    for (uint32_t i = 0; i < count; i++)
        add(text, ", %s", array_type(columns[i].type).name);
    add(text, ") AS INSERT INTO %s (time, device_id", d->table);
    for (uint32_t i = 0; i < count; i++)
        add(text, ", \"%s\"", columns[i].name);
    add(text, ") SELECT %s* FROM unnest($1, $2",
        is_upsert && may_repeat(d->setup->spec) ? "DISTINCT ON (d, t) " : "");
    for (uint32_t i = 0; i < count; i++)
        add(text, ", $%" PRIu32, FIXED_ARRAYS + i + 1);
    add(text, ") AS u (t, d)");
    if (!is_upsert)
        return;
    add(text, " ON CONFLICT (device_id, time) DO UPDATE SET ");
    for (uint32_t i = 0; i < count; i++)
        add(text, "%s\"%s\" = excluded.\"%s\"", i ? ", " : "", columns[i].name, columns[i].name);
}

enum outcome postgres_open_insert(struct driver *d, struct fault *fault)
{
    const uint64_t bytes = request_bytes(d);
    if (bytes > REQUEST_BYTES_MAX) {
        fault_set(fault, FAULT_SPEC, "SPEC",
                  "rows_per_request: a request of %" PRIu64 " bytes; one INSERT has at most %d",
                  bytes, REQUEST_BYTES_MAX);
        return OUTCOME_FATAL;
    }
    struct text text = {.size = 512 + strlen(d->table) +
                                (size_t)postgres_column_count(d) * (3 * NAME_MAX_BYTES + 64)};
    text.bytes = malloc(text.size);
    d->insert = text.bytes;
    if (text.bytes) {
        write_statement(d, &text);
        return OUTCOME_OK;
    }
    return fault_no_memory(fault);
}

static void put_start(uint8_t *out, unsigned element, bool has_nulls, uint32_t rows)
{
    put_u32(out, 1); /* dimension */
    put_u32(out + 4, has_nulls);
    put_u32(out + 8, element);
    put_u32(out + 12, rows);
    put_u32(out + 16, 1); /* the first index */
}

static void put_lengths(uint8_t *out, uint32_t element_bytes, uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++, out += 4 + element_bytes)
        put_u32(out, element_bytes);
}

/* The place of one array, with the lengths of elements that have a fixed size; returns its end. */
static uint8_t *place_array(struct postgres_arrays *a, uint32_t array, uint8_t *at, uint32_t size,
                            uint64_t rows)
{
    a->values[array] = (const char *)at;
    a->formats[array] = FORMAT_BINARY;
    put_lengths(at + ARRAY_START_BYTES, size, rows);
    return at + array_bytes(size, rows);
}

static struct postgres_arrays *make_arrays(const struct driver *d)
{
    const uint64_t rows = d->setup->spec->rows_per_request;
    const struct column *columns = d->setup->schema->columns + postgres_first_column(d);
    struct postgres_arrays *a = calloc(1, sizeof *a);
    if (!a || !(a->bytes = malloc(request_bytes(d)))) {
        free(a);
        return NULL;
    }
    const uint32_t count = postgres_column_count(d);
    uint8_t *at = place_array(a, 0, a->bytes, TIME_BYTES, rows);
    at = place_array(a, 1, at, DEVICE_BYTES, rows);
    for (uint32_t i = 0; i < count; i++)
        at = place_array(a, FIXED_ARRAYS + i, at, pg_wire_bytes(&columns[i]), rows);
    a->count = (int)(FIXED_ARRAYS + count);
    return a;
}

void postgres_free_arrays(struct connection *c)
{
    if (c->arrays)
        free(c->arrays->bytes);
    free(c->arrays);
}

static void put_devices(const struct driver *d, const struct batch *b, uint8_t *out)
{
    for (const struct slice *s = b->slices; s < b->slices + b->slice_count; s++)
        for (uint32_t i = 0; i < s->rows; i++)
            put_u32(out + (size_t)(s->offset + i) * (4 + DEVICE_BYTES), d->device_of[s->table]);
}

/* The array of one column; returns its size. */
static size_t put_values(const struct us_ratio *us, const struct column *column,
                         const struct column_data *data, uint32_t rows, uint8_t *out)
{
    const uint32_t size = pg_wire_bytes(column);
    uint8_t *at = out + ARRAY_START_BYTES;
    put_start(out, array_type(column->type).element, data->nulls != NULL, rows);
    if (!data->nulls && !data->lengths) {
        pg_put_column(us, at + 4, 4 + size, column, data->values, rows);
        return array_bytes(size, rows);
    }
    for (uint32_t row = 0; row < rows; row++)
        at = pg_put_field(us, at, column, data, row);
    return (size_t)(at - out);
}

static void put_arrays(const struct driver *d, const struct batch *b, struct postgres_arrays *a)
{
    static const struct column time = {.type = TYPE_TIMESTAMP};
    const struct us_ratio us = pg_us_ratio(d->setup->spec);
    const struct column_data times = {.values = b->times};
    uint8_t *const devices = (uint8_t *)a->values[1];
    a->lengths[0] = (int)put_values(&us, &time, &times, b->rows, (uint8_t *)a->values[0]);
    put_start(devices, OID_INT4, false, b->rows);
    put_devices(d, b, devices + ARRAY_START_BYTES + 4);
    a->lengths[1] = (int)array_bytes(DEVICE_BYTES, b->rows);
    for (uint32_t i = 0; i < b->column_count; i++) {
        const uint32_t c = b->first_column + i;
        const int place = FIXED_ARRAYS + (int)i;
        a->lengths[place] = (int)put_values(&us, &b->schema->columns[c], &b->columns[c], b->rows,
                                            (uint8_t *)a->values[place]);
    }
}

/* PREPARE, within the deadline of the first request. */
static enum outcome prepare(struct connection *c, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    uint64_t none = 0;
    if (!p->send_query(c->conn, c->driver->insert))
        return postgres_fault(p, c->conn, NULL, fault);
    enum outcome outcome = OUTCOME_FATAL;
    if (postgres_flush(c))
        outcome = postgres_take_answer(c, &none, fault);
    if (c->is_late)
        return fault_late(fault, "the server did not prepare the INSERT");
    c->arrays->is_prepared = outcome == OUTCOME_OK;
    return outcome;
}

static enum outcome execute(struct connection *c, uint64_t *rows_acked, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    const struct postgres_arrays *a = c->arrays;
    if (!p->send_prepared(c->conn, STATEMENT, a->count, a->values, a->lengths, a->formats,
                          FORMAT_BINARY))
        return postgres_fault(p, c->conn, NULL, fault);
    const bool is_sent = postgres_flush(c);
    if (c->is_late)
        return fault_late(fault, "the server did not take the rows");
    const enum outcome outcome = postgres_take_answer(c, rows_acked, fault);
    if (c->is_late)
        return fault_late(fault, "the rows were sent, and not acknowledged");
    return !is_sent && outcome == OUTCOME_OK ? OUTCOME_FATAL : outcome;
}

enum outcome postgres_send_insert(struct connection *c, const struct batch *batch,
                                  uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    if (!c->arrays && !(c->arrays = make_arrays(d)))
        return fault_no_memory(fault);
    put_arrays(d, batch, c->arrays);
    *rows_acked = batch->rows;
    if (d->setup->is_sending_stubbed)
        return OUTCOME_OK;
    if (!postgres_begin(c, deadline_ns))
        return postgres_fault(&d->libpq, c->conn, NULL, fault);
    enum outcome outcome = c->arrays->is_prepared ? OUTCOME_OK : prepare(c, fault);
    if (outcome == OUTCOME_OK)
        outcome = execute(c, rows_acked, fault);
    if (outcome != OUTCOME_OK)
        *rows_acked = 0;
    else if (d->method == METHOD_UPSERT && may_repeat(d->setup->spec))
        *rows_acked = batch->rows; /* the server counts a row once, and has stored all of them */
    return outcome;
}
