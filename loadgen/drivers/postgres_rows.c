/* Rows in the binary format of COPY: a count of fields, then each field's length and bytes, most
 * significant byte first. Rows of fixed length are laid out over a template that holds all counts
 * and lengths and is filled once in a connection, a block of rows at a time, column by column;
 * rows with NULLs or text, and those of jsonb, are written one after another. Nothing is allocated
 * here. */
#include <string.h>

#include "pg_values.h"
#include "postgres.h"

enum {
    HEADER_BYTES = 19,
    FIXED_FIELDS = 2, /* time and device_id */
    ROW_START_BYTES = 2 + (4 + 8) + (4 + 4),
    TIME_PLACE = 6,    /* within a row */
    DEVICE_PLACE = 18, /* within a row */
    BLOCK_BYTES = 16384, /* rows laid out at once: they stay in the first cache */
};

struct writer { /* one request's way into the buffer */
    struct connection *c;
    const struct batch *batch;
    struct us_ratio us;
    uint8_t *start; /* the header, when it goes first, else the first row */
    size_t used;
};

uint64_t postgres_row_bytes(const struct schema *schema, uint32_t first, uint32_t count)
{
    uint64_t bytes = ROW_START_BYTES;
    for (uint32_t i = first; i < first + count; i++)
        bytes += 4 + pg_wire_bytes(&schema->columns[i]);
    return bytes;
}

/* Sends what is written, and what comes next begins at the first row's place. */
static bool flush(struct writer *w)
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

/* Counts and lengths of as many rows as the buffer holds. */
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

/* The devices of rows at .. at+n-1, `stride` apart; *slice is the one that holds row `at`. */
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
            break; /* the rest of this slice comes next time */
    }
}

/* Values over the template: rows at .. at+n-1. */
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

/* Rows of fixed length: as many as the buffer holds, block after block. */
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
            if (!flush(w))
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

/* One row with NULLs or text, or one of jsonb; the buffer has room for it. */
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
    struct writer w = {.c = c,
                       .batch = batch,
                       .us = pg_us_ratio(c->driver->setup->spec),
                       .start = c->buffer + POSTGRES_ROWS_PLACE - HEADER_BYTES,
                       .used = HEADER_BYTES};
    memcpy(w.start, header, HEADER_BYTES);
    if (!(is_fixed(batch) && !c->driver->json ? put_fixed(&w) : put_varied(&w)))
        return false;
    uint8_t *const end = w.start + w.used;
    const uint16_t covered = get_u16(end); /* of the template; the buffer has room behind rows */
    put_u16(end, UINT16_MAX);
    w.used += 2;
    const bool ok = flush(&w);
    memcpy(end, &covered, sizeof covered);
    return ok;
}
