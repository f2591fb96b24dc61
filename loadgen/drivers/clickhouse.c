/* The driver of ClickHouse: blocks in its format Native over HTTP: device_id UInt32, time Int64 (ms
 * since 1970), columns of the schema, Nullable where rows may have NULLs. The INSERT and its
 * settings are in write_path, so `native` and `async` send the same bodies. Queries name a table by
 * its number. Options: those of posts.h. */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>

#include "cells.h"
#include "posts.h"
#include "varint.h"

_Static_assert(__BYTE_ORDER == __LITTLE_ENDIAN, "Native has numbers with the lowest byte first");

enum { OWN_COLUMNS = 2, HEAD_BYTES = NAME_MAX_BYTES + 40, TYPE_BYTES = 32 };

struct block_column {
    char head[HEAD_BYTES]; /* name and type, each behind its length */
    uint32_t length;
};

struct blocks { /* read-only once made */
    const struct schema *schema;
    bool is_nullable;
    struct block_column device, time;
    struct block_column *columns; /* one per column of the schema */
};

static const char *const type_names[TYPE_COUNT] = {
    [TYPE_BOOL] = "UInt8",       [TYPE_TINYINT] = "Int8",   [TYPE_SMALLINT] = "Int16",
    [TYPE_INT] = "Int32",        [TYPE_BIGINT] = "Int64",   [TYPE_UTINYINT] = "UInt8",
    [TYPE_USMALLINT] = "UInt16", [TYPE_UINT] = "UInt32",    [TYPE_UBIGINT] = "UInt64",
    [TYPE_FLOAT] = "Float32",    [TYPE_DOUBLE] = "Float64", [TYPE_TIMESTAMP] = "Int64",
    [TYPE_BINARY] = "String",    [TYPE_NCHAR] = "String",   [TYPE_VARBINARY] = "String",
};

static bool has_type(enum type type)
{
    return type_names[type] != NULL;
}

static char *put_sized(char *out, const void *text, size_t length)
{
    out = put_varint(out, length);
    return put_text(out, text, length);
}

static void make_head(struct block_column *column, const char *name, const char *type)
{
    char *end = put_sized(column->head, name, strlen(name));
    end = put_sized(end, type, strlen(type));
    column->length = (uint32_t)(end - column->head);
}

static bool init(void *encoder, const struct post_names *names)
{
    const struct schema *schema = names->schema;
    struct blocks *b = encoder;
    *b = (struct blocks){.schema = schema, .is_nullable = batch_has_nulls(names->spec, schema)};
    b->columns = calloc(schema->column_count, sizeof *b->columns);
    if (!b->columns)
        return false;
    make_head(&b->device, "device_id", "UInt32");
    make_head(&b->time, "time", "Int64");
    for (uint32_t i = 0; i < schema->column_count; i++) {
        char type[TYPE_BYTES];
        snprintf(type, sizeof type, b->is_nullable ? "Nullable(%s)" : "%s",
                 type_names[schema->columns[i].type]);
        make_head(&b->columns[i], schema->columns[i].name, type);
    }
    return true;
}

static void drop(void *encoder)
{
    free(((struct blocks *)encoder)->columns);
}

static uint64_t values_bytes(const struct blocks *b, uint32_t first, uint32_t count)
{
    uint64_t bytes = sizeof(uint32_t) + sizeof(int64_t);
    for (uint32_t i = first; i < first + count; i++) {
        const struct column *c = &b->schema->columns[i];
        bytes += type_is_text(c->type) ? VARINT_BYTES + (uint64_t)c->length : c->width;
        bytes += b->is_nullable;
    }
    return bytes;
}

static uint64_t heads_bytes(uint32_t count)
{
    return (uint64_t)(OWN_COLUMNS + count) * HEAD_BYTES + 2 * VARINT_BYTES;
}

static uint64_t row_bytes(const void *encoder, uint32_t first, uint32_t count)
{
    return heads_bytes(count) + values_bytes(encoder, first, count);
}

static char *put_head(char *out, const struct block_column *column)
{
    memcpy(out, column->head, column->length);
    return out + column->length;
}

static char *put_devices(char *out, const struct batch *batch, struct post_place *place,
                         uint32_t count)
{
    while (count > 0) {
        const struct slice *slice = &batch->slices[place->slice];
        const uint32_t left = slice->rows - place->row;
        const uint32_t some = count < left ? count : left;
        for (uint32_t i = 0; i < some; i++, out += sizeof slice->table)
            memcpy(out, &slice->table, sizeof slice->table);
        count -= some;
        place->row += some;
        if (place->row == slice->rows) {
            place->row = 0;
            place->slice++;
        }
    }
    return out;
}

static char *put_texts(char *out, const struct batch *batch, uint32_t c, uint32_t first,
                       uint32_t count)
{
    const struct column_data *data = &batch->columns[c];
    const size_t width = batch->schema->columns[c].width;
    for (uint32_t row = first; row < first + count; row++) {
        const size_t length = cell_is_null(batch, c, row) ? 0 : (size_t)data->lengths[row];
        out = put_sized(out, (const char *)data->values + row * width, length);
    }
    return out;
}

/* Before the values a byte for each, 1 for a NULL. */
static char *put_column(char *out, const struct blocks *b, const struct batch *batch, uint32_t c,
                        uint32_t first, uint32_t count)
{
    const struct column_data *data = &batch->columns[c];
    const struct column *column = &b->schema->columns[c];
    out = put_head(out, &b->columns[c]);
    if (b->is_nullable) {
        for (uint32_t row = first; row < first + count; row++)
            *out++ = cell_is_null(batch, c, row);
    }
    if (type_is_text(column->type))
        return put_texts(out, batch, c, first, count);
    const size_t bytes = (size_t)count * column->width;
    memcpy(out, (const char *)data->values + (size_t)first * column->width, bytes);
    return out + bytes;
}

static char *put(const void *encoder, const struct batch *batch, void *next, char *out,
                 uint64_t room, uint32_t *rows)
{
    const struct blocks *b = encoder;
    struct post_place *const place = next;
    *rows = 0;
    if (place->slice == batch->slice_count)
        return out;
    const uint32_t first = batch->slices[place->slice].offset + place->row;
    const uint64_t fit = (room - heads_bytes(batch->column_count)) /
                         values_bytes(b, batch->first_column, batch->column_count);
    const uint32_t left = batch->rows - first;
    const uint32_t count = fit < left ? (uint32_t)fit : left;
    out = put_varint(out, OWN_COLUMNS + batch->column_count);
    out = put_varint(out, count);
    out = put_devices(put_head(out, &b->device), batch, place, count);
    out = put_head(out, &b->time);
    memcpy(out, batch->times + first, count * sizeof *batch->times);
    out += count * sizeof *batch->times;
    for (uint32_t i = 0; i < batch->column_count; i++)
        out = put_column(out, b, batch, batch->first_column + i, first, count);
    *rows = count;
    return out;
}

static const struct post_kind kind = {
    .has = has_type,
    .lacks = "ClickHouse has no type for",
    .ms_only = "precision: ClickHouse is given times in whole milliseconds",
    .is_numbered = true,
    .encoder_bytes = sizeof(struct blocks),
    .place_bytes = sizeof(struct post_place),
    .init = init,
    .drop = drop,
    .row_bytes = row_bytes,
    .put = put,
};

#define INSERT "/?query=INSERT%20INTO%20measurement%20FORMAT%20Native"
static const struct post_form form = {.kind = &kind,
                                      .path = INSERT,
                                      .header = "Content-Type: application/octet-stream\r\n",
                                      .port = 8123};
static const struct driver_method methods[] = {
    {"native", FEATURE_DEADLINE | FEATURE_SEPARABLE, &form},
    {"async", FEATURE_DEADLINE | FEATURE_SEPARABLE, &form},
    {NULL, 0, NULL},
};
static const char *const options[] = {POSTS_OPTIONS, "auth_scheme", NULL};

const struct driver_ops driver_clickhouse = {
    POSTS_FUNCTIONS,
    .name = "clickhouse",
    .methods = methods,
    .options = options,
};
