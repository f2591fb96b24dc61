/* Rows for PostgreSQL: COPY's binary format, jsonb in it, and arrays of a prepared INSERT. */
#include "postgres_rows.h"

#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "../deadline.h"
#include "cells.h"
#include "pg_values.h"

/* Without TLS and GSS COPY's frames go straight into the socket, which saves libpq's copy: after
 * the answer to COPY it has sent all of its own and keeps no account of the data. */

typedef int in_use_function(PGconn *);

static bool is_plain(const struct connection *c)
{
    in_use_function *tls = NULL, *gss = NULL;
    void *const handle = c->driver->libpq.handle;
    *(void **)&tls = dlsym(handle, "PQsslInUse");
    *(void **)&gss = dlsym(handle, "PQgssEncInUse");
    return tls && gss && !tls(c->conn) && !gss(c->conn);
}

/* Within a frame: libpq gets the end of the data, and reads the server's last message. */
static bool cut(struct connection *c, int fd)
{
    shutdown(fd, SHUT_WR);
    (void)c->driver->libpq.put_end(c->conn, NULL);
    return false;
}

/* Also reads what the server sends, so that it can continue. */
static bool wait_for_room(struct connection *c, int fd)
{
    const short ready = deadline_poll(c->deadline_ns, fd, POLLIN | POLLOUT);
    c->is_late = ready == 0;
    if (ready & POLLIN)
        return c->driver->libpq.consume(c->conn) || cut(c, fd);
    return !c->is_late;
}

static bool send_frame(struct connection *c, const uint8_t *frame, size_t bytes)
{
    const int fd = c->driver->libpq.socket(c->conn);
    while (bytes > 0) {
        const ssize_t sent = send(fd, frame, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            frame += sent;
            bytes -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for_room(c, fd))
                return false;
        } else if (errno != EINTR) {
            return cut(c, fd);
        }
    }
    return true;
}

static bool postgres_put_data(struct connection *c, uint8_t *data, size_t bytes)
{
    const struct libpq *p = &c->driver->libpq;
    const uint32_t length = htobe32((uint32_t)bytes + 4);
    if (c->way == WAY_NOWHERE) /* sending=stubbed: the rows are encoded and discarded */
        return true;
    if (c->way == WAY_UNKNOWN)
        c->way = is_plain(c) ? WAY_SOCKET : WAY_LIBRARY;
    if (c->way == WAY_SOCKET && p->flush(c->conn) == 0) {
        data[-POSTGRES_FRAME_BYTES] = 'd';
        memcpy(data - 4, &length, sizeof length);
        return send_frame(c, data - POSTGRES_FRAME_BYTES, bytes + POSTGRES_FRAME_BYTES);
    }
    return postgres_flush(c) && /* the previous piece, so that libpq holds one at most */
           p->put_data(c->conn, (const char *)data, (int)bytes) == 1;
}

/* jsonb: all values of a row as one JSON object, after a byte with the version. A time is a whole
 * number in units of the spec. */

enum { JSONB_VERSION = 1, MEMBER_BYTES = NAME_MAX_BYTES + 8, LEFT_TO_WRITE = 8 };

struct postgres_json {
    struct member {
        char text[MEMBER_BYTES]; /* ,"current": */
        uint32_t length;
    } members[COLUMNS_MAX];
};

static uint64_t value_bytes(const struct column *column)
{
    return type_is_text(column->type) ? 2 * (uint64_t)column->length + 2 : NUMBER_BYTES;
}

enum {
    HEADER_BYTES = 19,
    FIXED_FIELDS = 2, /* time and device_id */
    ROW_START_BYTES = 2 + (4 + 8) + (4 + 4),
    TIME_PLACE = 6,    /* within a row */
    DEVICE_PLACE = 18, /* within a row */
    BLOCK_BYTES = 16384, /* they stay in the first cache */
};

uint64_t postgres_row_bytes(const struct schema *schema, uint32_t first, uint32_t count)
{
    uint64_t bytes = ROW_START_BYTES;
    for (uint32_t i = first; i < first + count; i++)
        bytes += 4 + pg_wire_bytes(&schema->columns[i]);
    return bytes;
}

uint64_t postgres_json_row_bytes(const struct schema *schema, uint32_t first, uint32_t count)
{
    uint64_t bytes = postgres_row_bytes(schema, 0, 0) + 4 + 1 + 2 + LEFT_TO_WRITE;
    for (uint32_t i = first; i < first + count; i++)
        bytes += strlen(schema->columns[i].name) + 4 + value_bytes(&schema->columns[i]);
    return bytes;
}

enum outcome postgres_open_json(struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    d->json = calloc(1, sizeof *d->json);
    if (!d->json)
        return fault_no_memory(fault);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        struct member *member = &d->json->members[i];
        if (column->type == TYPE_VARBINARY || column->type == TYPE_GEOMETRY) {
            fault_set(fault, FAULT_SPEC, "COLUMNS", "columns: %s: JSON has no type %s",
                      column->name, type_name(column->type));
            return OUTCOME_FATAL;
        }
        member->length =
            (uint32_t)snprintf(member->text, sizeof member->text,
                               "%c\"%.*s\":", i == postgres_first_column(d) ? '{' : ',',
                               NAME_MAX_BYTES - 1, column->name);
    }
    return OUTCOME_OK;
}

static char *put_value(char *out, const struct column *column, const struct column_data *data,
                       uint32_t row)
{
    switch (column->type) {
    case TYPE_BOOL:
        return ((const int8_t *)data->values)[row] ? put_word(out, "true") : put_word(out, "false");
    case TYPE_BINARY:
    case TYPE_NCHAR:
        return cell_put_quoted(out, (const uint8_t *)data->values + (size_t)row * column->width,
                               (uint32_t)data->lengths[row]);
    default:
        return cell_put_number(out, column->type, data->values, row);
    }
}

static uint8_t *postgres_put_json(const struct postgres_json *json, const struct batch *b,
                                  uint32_t row, uint8_t *out)
{
    char *at = (char *)out + 5;
    out[4] = JSONB_VERSION;
    for (uint32_t c = b->first_column; c < b->first_column + b->column_count; c++) {
        const struct column_data *data = &b->columns[c];
        at = put_text(at, json->members[c].text, json->members[c].length);
        at = data->nulls && data->nulls[row] ? put_word(at, "null")
                                             : put_value(at, &b->schema->columns[c], data, row);
    }
    *at++ = '}';
    put_u32(out, (uint32_t)(at - (char *)out) - 4);
    return (uint8_t *)at;
}

/* COPY's binary format: a count of fields, then each field's length and bytes. A template with all
 * counts and lengths is filled once per connection; rows of fixed length are written over it by
 * block and column, others one after another. */

struct writer { /* where one request's rows go in the buffer */
    struct connection *c;
    const struct batch *batch;
    struct us_ratio us;
    uint8_t *start; /* header if it is not sent yet, else the first row */
    size_t used;
};

/* The next row begins at the first row's place. */
static bool flush_rows(struct writer *w)
{
    const bool ok = postgres_put_data(w->c, w->start, w->used);
    w->start = w->c->buffer + POSTGRES_ROWS_PLACE;
    w->used = 0;
    return ok;
}

static void put_start(const struct writer *w, uint8_t *out, uint32_t row, uint32_t device)
{
    const bool is_json = w->c->driver->json != NULL;
    put_u16(out, (uint16_t)(FIXED_FIELDS + (is_json ? 1 : w->batch->column_count)));
    put_u32(out + 2, 8);
    put_u64(out + TIME_PLACE, (uint64_t)pg_us(&w->us, w->batch->times[row]));
    put_u32(out + 14, 4);
    put_u32(out + DEVICE_PLACE, device);
}

static void fill_template(const struct writer *w, uint8_t *out, size_t stride, uint32_t rows)
{
    const struct batch *b = w->batch;
    for (uint32_t i = 0; i < rows; i++, out += stride) {
        uint8_t *at = out + ROW_START_BYTES;
        put_start(w, out, 0, 0);
        for (uint32_t c = b->first_column; c < b->first_column + b->column_count; c++) {
            const uint32_t bytes = pg_wire_bytes(&b->schema->columns[c]);
            put_u32(at, bytes);
            at += 4 + bytes;
        }
    }
}

/* Rows at .. at+n-1, `stride` apart; *slice holds row `at`. */
static void put_devices(const struct writer *w, uint8_t *out, size_t stride, uint32_t at,
                        uint32_t n, const struct slice **slice)
{
    const uint32_t *device_of = w->c->driver->device_of;
    for (uint32_t end = at + n; at < end; ++*slice) {
        const uint32_t slice_end = (*slice)->offset + (*slice)->rows;
        const uint32_t device = device_of[(*slice)->table];
        for (; at < end && at < slice_end; at++, out += stride)
            put_u32(out, device);
        if (at < slice_end)
            break; /* the next call writes the rest */
    }
}

static void put_block(const struct writer *w, uint8_t *out, size_t stride, uint32_t at, uint32_t n)
{
    static const struct column time = {.type = TYPE_TIMESTAMP};
    const struct batch *b = w->batch;
    uint8_t *place = out + ROW_START_BYTES + 4;
    pg_put_column(&w->us, out + TIME_PLACE, stride, &time, (const uint8_t *)(b->times + at), n);
    for (uint32_t c = b->first_column; c < b->first_column + b->column_count; c++) {
        const struct column *column = &b->schema->columns[c];
        const uint8_t *values = b->columns[c].values;
        pg_put_column(&w->us, place, stride, column, values + (size_t)at * column->width, n);
        place += 4 + pg_wire_bytes(column);
    }
}

static bool put_fixed(struct writer *w)
{
    const struct batch *b = w->batch;
    const struct slice *slice = b->slices;
    const size_t stride = postgres_row_bytes(b->schema, b->first_column, b->column_count);
    const uint32_t room = (uint32_t)(POSTGRES_BUFFER_BYTES / stride);
    const uint32_t block = stride < BLOCK_BYTES ? (uint32_t)(BLOCK_BYTES / stride) : 1;
    uint8_t *const first = w->c->buffer + POSTGRES_ROWS_PLACE;
    if (!w->c->has_template)
        fill_template(w, first, stride, room);
    w->c->has_template = true;
    for (uint32_t at = 0, held = 0, n; at < b->rows; at += n, held += n) {
        if (held == room) {
            if (!flush_rows(w))
                return false;
            held = 0;
        }
        uint8_t *out = first + held * stride;
        n = b->rows - at < room - held ? b->rows - at : room - held;
        n = n < block ? n : block;
        put_devices(w, out + DEVICE_PLACE, stride, at, n, &slice);
        put_block(w, out, stride, at, n);
        w->used += n * stride;
    }
    return true;
}

/* With NULLs or text, or jsonb; there is room for it. */
static void put_row(struct writer *w, uint32_t row, uint32_t device)
{
    const struct batch *b = w->batch;
    const struct postgres_json *json = w->c->driver->json;
    uint8_t *out = w->start + w->used, *at = out + ROW_START_BYTES;
    put_start(w, out, row, device);
    if (json)
        at = postgres_put_json(json, b, row, at);
    for (uint32_t c = b->first_column; !json && c < b->first_column + b->column_count; c++)
        at = pg_put_field(&w->us, at, &b->schema->columns[c], &b->columns[c], row);
    w->used += (size_t)(at - out);
}

static bool put_varied(struct writer *w)
{
    const struct batch *b = w->batch;
    const size_t most = w->c->driver->row_bytes;
    for (const struct slice *s = b->slices; s < b->slices + b->slice_count; s++)
        for (uint32_t i = 0; i < s->rows; i++) {
            if (POSTGRES_BUFFER_BYTES - w->used < most && !flush_rows(w))
                return false;
            put_row(w, s->offset + i, w->c->driver->device_of[s->table]);
        }
    return true;
}

static bool is_fixed(const struct batch *b)
{
    for (uint32_t c = b->first_column; c < b->first_column + b->column_count; c++)
        if (b->columns[c].lengths || b->columns[c].nulls)
            return false;
    return true;
}

bool postgres_send_rows(struct connection *c, const struct batch *batch)
{
    static const uint8_t header[HEADER_BYTES] = "PGCOPY\n\377\r\n"; /* no flags, no extension */
    struct writer w = {.c = c,
                       .batch = batch,
                       .us = pg_us_ratio(c->driver->setup->spec),
                       .start = c->buffer + POSTGRES_ROWS_PLACE - HEADER_BYTES,
                       .used = HEADER_BYTES};
    memcpy(w.start, header, HEADER_BYTES);
    if (!(is_fixed(batch) && !c->driver->json ? put_fixed(&w) : put_varied(&w)))
        return false;
    uint8_t *const end = w.start + w.used;
    const uint16_t covered = get_u16(end); /* overwritten bytes of the template */
    put_u16(end, UINT16_MAX);
    w.used += 2;
    const bool ok = flush_rows(&w);
    memcpy(end, &covered, sizeof covered);
    return ok;
}

/* `insert` and `upsert`: one prepared INSERT whose parameters are arrays, made rows by unnest: any
 * number of rows (a statement takes 65,535 parameters), parsed once per connection. PostgreSQL
 * refuses an upsert that meets a row twice, so then each device and time is selected once. */

enum {
    FIXED_ARRAYS = 2, /* time and device_id */
    ARRAYS_MAX = FIXED_ARRAYS + 1600,
    DEVICE_BYTES = 4,
    TIME_BYTES = 8,
    REQUEST_BYTES_MAX = 1000000000 /* the server takes no message of 1 GiB */
};

#define STATEMENT "scale_rows"
#define STAGE "scale_stage" /* the temporary table of a session */

struct postgres_arrays { /* parameters of one connection's INSERT */
    bool is_prepared;
    int count;
    const char *values[ARRAYS_MAX];
    int lengths[ARRAYS_MAX], formats[ARRAYS_MAX];
    uint8_t *bytes;
};

static const struct array_type {
    unsigned element;
    const char *name;
} array_types[TYPE_COUNT] = {
    [TYPE_BOOL] = {OID_BOOL, "boolean[]"},
    [TYPE_TINYINT] = {OID_INT2, "smallint[]"},
    [TYPE_UTINYINT] = {OID_INT2, "smallint[]"},
    [TYPE_SMALLINT] = {OID_INT2, "smallint[]"},
    [TYPE_USMALLINT] = {OID_INT4, "integer[]"},
    [TYPE_INT] = {OID_INT4, "integer[]"},
    [TYPE_UINT] = {OID_INT8, "bigint[]"},
    [TYPE_BIGINT] = {OID_INT8, "bigint[]"},
    [TYPE_UBIGINT] = {OID_INT8, "bigint[]"},
    [TYPE_FLOAT] = {OID_FLOAT4, "real[]"},
    [TYPE_DOUBLE] = {OID_FLOAT8, "double precision[]"},
    [TYPE_TIMESTAMP] = {OID_TIMESTAMPTZ, "timestamptz[]"},
    [TYPE_BINARY] = {OID_TEXT, "text[]"},
    [TYPE_NCHAR] = {OID_TEXT, "text[]"},
    [TYPE_VARBINARY] = {OID_BYTEA, "bytea[]"},
    [TYPE_GEOMETRY] = {OID_BYTEA, "bytea[]"},
};

static uint64_t array_bytes(uint32_t element_bytes, uint64_t rows)
{
    return PG_ARRAY_START_BYTES + rows * (4 + (uint64_t)element_bytes);
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

__attribute__((format(printf, 2, 3))) static void add_text(struct text *text, const char *format,
                                                           ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->used +=
        (size_t)vsnprintf(text->bytes + text->used, text->size - text->used, format, arguments);
    va_end(arguments);
}

bool postgres_may_repeat(const struct spec *spec)
{
    return spec->disorder_ratio > 0 && spec->disorder_mode == DISORDER_POISSON;
}

static void add_columns(struct text *text, const struct driver *d)
{
    const struct column *columns = d->setup->schema->columns + postgres_first_column(d);
    for (uint32_t i = 0; i < postgres_column_count(d); i++)
        add_text(text, ", \"%s\"", columns[i].name);
}

static void add_conflict(struct text *text, const struct driver *d)
{
    const struct column *columns = d->setup->schema->columns + postgres_first_column(d);
    add_text(text, " ON CONFLICT (device_id, time) DO UPDATE SET ");
    for (uint32_t i = 0; i < postgres_column_count(d); i++)
        add_text(text, "%s\"%s\" = excluded.\"%s\"", i ? ", " : "", columns[i].name,
                 columns[i].name);
}

static void write_statement(const struct driver *d, struct text *text)
{
    const struct column *columns = d->setup->schema->columns + postgres_first_column(d);
    const uint32_t count = postgres_column_count(d);
    const bool is_upsert = d->method == METHOD_UPSERT;
    add_text(text, "PREPARE " STATEMENT " (timestamptz[], integer[]");
    for (uint32_t i = 0; i < count; i++)
        add_text(text, ", %s", array_types[columns[i].type].name);
    add_text(text, ") AS INSERT INTO %s (time, device_id", d->table);
    add_columns(text, d);
    add_text(text, ") SELECT %s* FROM unnest($1, $2",
             is_upsert && postgres_may_repeat(d->setup->spec) ? "DISTINCT ON (d, t) " : "");
    for (uint32_t i = 0; i < count; i++)
        add_text(text, ", $%" PRIu32, FIXED_ARRAYS + i + 1);
    add_text(text, ") AS u (t, d)");
    if (is_upsert)
        add_conflict(text, d);
}

/* Every column is named up to four times. */
static bool make_text(const struct driver *d, struct text *text)
{
    text->size =
        512 + 2 * strlen(d->table) + (size_t)postgres_column_count(d) * (4 * NAME_MAX_BYTES + 64);
    text->bytes = malloc(text->size);
    return text->bytes != NULL;
}

static void write_staged(const struct driver *d, struct text *text)
{
    add_text(text, "COPY " STAGE " (time, device_id");
    add_columns(text, d);
    add_text(text, ") FROM STDIN (FORMAT binary); INSERT INTO %s (time, device_id", d->table);
    add_columns(text, d);
    add_text(text, ") SELECT %stime, device_id",
             postgres_may_repeat(d->setup->spec) ? "DISTINCT ON (device_id, time) " : "");
    add_columns(text, d);
    add_text(text, " FROM " STAGE);
    add_conflict(text, d);
}

enum outcome postgres_open_staged(struct driver *d, struct fault *fault)
{
    struct text text = {0};
    if (!make_text(d, &text))
        return fault_no_memory(fault);
    d->staged = text.bytes;
    write_staged(d, &text);
    return OUTCOME_OK;
}

/* Within the deadline of the first request. */
static enum outcome run_once(struct connection *c, const char *statement, const char *stage,
                             bool *is_done, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    uint64_t none = 0;
    if (!p->send_query(c->conn, statement))
        return postgres_fault(p, c->conn, NULL, fault);
    const enum outcome outcome =
        postgres_flush(c) ? postgres_take_answer(c, &none, fault) : OUTCOME_FATAL;
    if (c->is_late)
        return fault_late(fault, stage);
    *is_done = outcome == OUTCOME_OK;
    return outcome;
}

enum outcome postgres_create_stage(struct connection *c, struct fault *fault)
{
    static const char form[] = "CREATE TEMPORARY TABLE " STAGE " (LIKE %s) ON COMMIT DELETE ROWS";
    char statement[sizeof form + 256];
    snprintf(statement, sizeof statement, form, c->driver->table);
    return run_once(c, statement, "the server did not make the temporary table", &c->has_stage,
                    fault);
}

enum outcome postgres_open_insert(struct driver *d, struct fault *fault)
{
    const uint64_t bytes = request_bytes(d);
    if (bytes > REQUEST_BYTES_MAX)
        return fault_spec(
            fault, "rows_per_request: a request of %" PRIu64 " bytes; one INSERT has at most %d",
            bytes, REQUEST_BYTES_MAX);
    struct text text = {0};
    if (!make_text(d, &text))
        return fault_no_memory(fault);
    d->insert = text.bytes;
    write_statement(d, &text);
    return OUTCOME_OK;
}

static void put_lengths(uint8_t *out, uint32_t element_bytes, uint64_t rows)
{
    for (uint64_t i = 0; i < rows; i++, out += 4 + element_bytes)
        put_u32(out, element_bytes);
}

/* With the lengths of elements of fixed size; returns its end. */
static uint8_t *place_array(struct postgres_arrays *a, uint32_t array, uint8_t *at, uint32_t size,
                            uint64_t rows)
{
    a->values[array] = (const char *)at;
    a->formats[array] = FORMAT_BINARY;
    put_lengths(at + PG_ARRAY_START_BYTES, size, rows);
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

static void put_array_devices(const struct driver *d, const struct batch *b, uint8_t *out)
{
    for (const struct slice *s = b->slices; s < b->slices + b->slice_count; s++)
        for (uint32_t i = 0; i < s->rows; i++)
            put_u32(out + (size_t)(s->offset + i) * (4 + DEVICE_BYTES), d->device_of[s->table]);
}

static size_t put_array(const struct us_ratio *us, const struct column *column,
                        const struct column_data *data, uint32_t rows, uint8_t *out)
{
    const uint32_t size = pg_wire_bytes(column);
    uint8_t *at = out + PG_ARRAY_START_BYTES;
    pg_put_array_start(out, array_types[column->type].element, data->nulls != NULL, rows);
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
    a->lengths[0] = (int)put_array(&us, &time, &times, b->rows, (uint8_t *)a->values[0]);
    pg_put_array_start(devices, OID_INT4, false, b->rows);
    put_array_devices(d, b, devices + PG_ARRAY_START_BYTES + 4);
    a->lengths[1] = (int)array_bytes(DEVICE_BYTES, b->rows);
    for (uint32_t i = 0; i < b->column_count; i++) {
        const uint32_t c = b->first_column + i;
        const int place = FIXED_ARRAYS + (int)i;
        a->lengths[place] = (int)put_array(&us, &b->schema->columns[c], &b->columns[c], b->rows,
                                           (uint8_t *)a->values[place]);
    }
}

static enum outcome execute_insert(struct connection *c, uint64_t *rows_acked, struct fault *fault)
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
    enum outcome outcome = OUTCOME_OK;
    if (!c->arrays->is_prepared)
        outcome = run_once(c, d->insert, "the server did not prepare the INSERT",
                           &c->arrays->is_prepared, fault);
    if (outcome == OUTCOME_OK)
        outcome = execute_insert(c, rows_acked, fault);
    if (outcome != OUTCOME_OK)
        *rows_acked = 0;
    else if (d->method == METHOD_UPSERT && postgres_may_repeat(d->setup->spec))
        *rows_acked = batch->rows; /* a row counts once, but all are stored */
    return outcome;
}
