/* Rows in the binary format of COPY: a count of fields, then each field's length and bytes, most
 * significant byte first. Rows of fixed length are laid out column by column from a template;
 * rows with NULLs or text are written one after another. Nothing is allocated here. */
#include <endian.h>
#include <string.h>

#include "postgres.h"

enum {
    HEADER_BYTES = 19,
    FIXED_FIELDS = 2, /* time and device_id */
    ROW_START_BYTES = 2 + (4 + 8) + (4 + 4),
};

/* PostgreSQL counts microseconds from 2000-01-01. */
#define EPOCH_US 946684800000000ll

struct writer { /* one request's way into the buffer */
    struct connection *c;
    const struct batch *batch;
    int64_t us_multiply, us_divide;
    size_t used;
};

static inline void put_u16(uint8_t *out, uint16_t value)
{
    const uint16_t big = htobe16(value);
    memcpy(out, &big, sizeof big);
}

static inline void put_u32(uint8_t *out, uint32_t value)
{
    const uint32_t big = htobe32(value);
    memcpy(out, &big, sizeof big);
}

static inline void put_u64(uint8_t *out, uint64_t value)
{
    const uint64_t big = htobe64(value);
    memcpy(out, &big, sizeof big);
}

static inline uint16_t get_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t get_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Bytes of a value on the wire; types that PostgreSQL lacks take the next wider one. */
static uint32_t wire_bytes(const struct column *column)
{
    switch (column->type) {
    case TYPE_BOOL:
        return 1;
    case TYPE_TINYINT:
    case TYPE_UTINYINT:
    case TYPE_SMALLINT:
        return 2;
    case TYPE_USMALLINT:
    case TYPE_INT:
    case TYPE_FLOAT:
        return 4;
    case TYPE_UINT:
    case TYPE_BIGINT:
    case TYPE_UBIGINT:
    case TYPE_DOUBLE:
    case TYPE_TIMESTAMP:
        return 8;
    default:
        return column->width;
    }
}

uint64_t postgres_row_bytes(const struct schema *schema, uint32_t first, uint32_t count)
{
    uint64_t bytes = ROW_START_BYTES;
    for (uint32_t i = first; i < first + count; i++)
        bytes += 4 + wire_bytes(&schema->columns[i]);
    return bytes;
}

static inline int64_t postgres_us(const struct writer *w, int64_t time)
{
    return time * w->us_multiply / w->us_divide - EPOCH_US;
}

/* n values of one column, `stride` apart in the output. */
static void put_column(const struct writer *w, uint8_t *out, size_t stride,
                       const struct column *column, const uint8_t *in, uint32_t n)
{
    switch (column->type) {
    case TYPE_TINYINT:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u16(out, (uint16_t)(int8_t)in[i]);
        break;
    case TYPE_UTINYINT:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u16(out, in[i]);
        break;
    case TYPE_SMALLINT:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u16(out, get_u16(in + (size_t)i * 2));
        break;
    case TYPE_USMALLINT:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u32(out, get_u16(in + (size_t)i * 2));
        break;
    case TYPE_INT:
    case TYPE_FLOAT:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u32(out, get_u32(in + (size_t)i * 4));
        break;
    case TYPE_UINT:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u64(out, get_u32(in + (size_t)i * 4));
        break;
    case TYPE_BIGINT:
    case TYPE_UBIGINT:
    case TYPE_DOUBLE:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u64(out, get_u64(in + (size_t)i * 8));
        break;
    case TYPE_TIMESTAMP:
        for (uint32_t i = 0; i < n; i++, out += stride)
            put_u64(out, (uint64_t)postgres_us(w, (int64_t)get_u64(in + (size_t)i * 8)));
        break;
    default: /* bool; text never comes here */
        for (uint32_t i = 0; i < n; i++, out += stride)
            *out = in[i];
        break;
    }
}

static bool flush(struct writer *w)
{
    const struct libpq *p = &w->c->driver->libpq;
    const bool ok = postgres_flush(w->c) && /* the piece before, so that libpq keeps one at most */
                    p->put_data(w->c->conn, (const char *)w->c->buffer, (int)w->used) == 1;
    w->used = 0;
    return ok;
}

static void put_start(const struct writer *w, uint8_t *out, uint32_t row, uint32_t device)
{
    put_u16(out, (uint16_t)(FIXED_FIELDS + w->batch->column_count));
    put_u32(out + 2, 8);
    put_u64(out + 6, (uint64_t)postgres_us(w, w->batch->times[row]));
    put_u32(out + 14, 4);
    put_u32(out + 18, device);
}

/* The starts of rows at .. at+n-1, `stride` apart; *slice is the one that holds row `at`. */
static void put_starts(const struct writer *w, uint8_t *out, size_t stride, uint32_t at,
                       uint32_t n, const struct slice **slice)
{
    const uint32_t *device_of = w->c->driver->device_of;
    for (uint32_t end = at + n; at < end; ++*slice) {
        const uint32_t slice_end = (*slice)->offset + (*slice)->rows;
        const uint32_t device = device_of[(*slice)->table];
        for (; at < end && at < slice_end; at++, out += stride)
            put_start(w, out, at, device);
        if (at < slice_end)
            break; /* the rest of this slice comes next time */
    }
}

/* Rows of fixed length: as many as the buffer holds, column after column. */
static bool put_fixed(struct writer *w)
{
    const struct batch *b = w->batch;
    const struct column *columns = b->schema->columns;
    const struct slice *slice = b->slices;
    const uint32_t end = b->first_column + b->column_count;
    const size_t stride = postgres_row_bytes(b->schema, b->first_column, b->column_count);
    for (uint32_t at = 0, n; at < b->rows; at += n) {
        const size_t room = (POSTGRES_BUFFER_BYTES - w->used) / stride;
        uint8_t *out = w->c->buffer + w->used;
        n = b->rows - at < room ? b->rows - at : (uint32_t)room;
        put_starts(w, out, stride, at, n, &slice);
        size_t place = ROW_START_BYTES;
        for (uint32_t c = b->first_column; c < end; c++) {
            const uint32_t bytes = wire_bytes(&columns[c]);
            const uint8_t *values = b->columns[c].values;
            for (uint32_t i = 0; i < n; i++)
                put_u32(out + i * stride + place, bytes);
            put_column(w, out + place + 4, stride, &columns[c],
                       values + (size_t)at * columns[c].width, n);
            place += 4 + bytes;
        }
        w->used += n * stride;
        if (at + n < b->rows && !flush(w))
            return false;
    }
    return true;
}

/* One row with NULLs or text; the buffer has room for it. */
static void put_row(struct writer *w, uint32_t row, uint32_t device)
{
    const struct batch *b = w->batch;
    uint8_t *out = w->c->buffer + w->used, *at = out + ROW_START_BYTES;
    put_start(w, out, row, device);
    for (uint32_t c = b->first_column; c < b->first_column + b->column_count; c++) {
        const struct column *column = &b->schema->columns[c];
        const struct column_data *data = &b->columns[c];
        const uint8_t *value = (const uint8_t *)data->values + (size_t)row * column->width;
        uint32_t bytes = wire_bytes(column);
        if (data->nulls && data->nulls[row]) {
            put_u32(at, UINT32_MAX);
            at += 4;
            continue;
        }
        if (data->lengths) {
            bytes = (uint32_t)data->lengths[row];
            memcpy(at + 4, value, bytes);
        } else {
            put_column(w, at + 4, 0, column, value, 1);
        }
        put_u32(at, bytes);
        at += 4 + bytes;
    }
    w->used += (size_t)(at - out);
}

static bool put_varied(struct writer *w)
{
    const struct batch *b = w->batch;
    const size_t most = postgres_row_bytes(b->schema, b->first_column, b->column_count);
    for (const struct slice *s = b->slices; s < b->slices + b->slice_count; s++)
        for (uint32_t i = 0; i < s->rows; i++) {
            if (POSTGRES_BUFFER_BYTES - w->used < most && !flush(w))
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
    const int64_t units = spec_units_per_ms(c->driver->setup->spec);
    struct writer w = {.c = c,
                       .batch = batch,
                       .us_multiply = units < 1000 ? 1000 / units : 1,
                       .us_divide = units > 1000 ? units / 1000 : 1,
                       .used = HEADER_BYTES};
    memcpy(c->buffer, header, HEADER_BYTES);
    if (!(is_fixed(batch) ? put_fixed(&w) : put_varied(&w)))
        return false;
    if (POSTGRES_BUFFER_BYTES - w.used < 2 && !flush(&w))
        return false;
    put_u16(c->buffer + w.used, UINT16_MAX); /* the end */
    w.used += 2;
    return flush(&w);
}
