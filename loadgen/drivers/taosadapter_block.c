/* A slice of a batch as TDengine's raw block: for each column its NULLs (a bit each) and values,
 * or, for types with a length, offsets and values with their lengths before them. NCHAR is
 * written as UTF-32, the server's own form. */
#include <string.h>

#include "taosadapter_parts.h"

enum {
    ACTION_BLOCK = 4,
    ACTION_BLOCK_WITH_FIELDS = 5,
    BLOCK_VERSION = 1,
    HEAD_BYTES = 4 + 4 + 4 + 4 + 4 + 8,
    MESSAGE_HEAD_BYTES = 8 + 8 + 8 + 4 + 2
};

#define PUT(out, type, value)                                                                      \
    do {                                                                                           \
        const type put_value = (type)(value);                                                      \
        memcpy(out, &put_value, sizeof put_value);                                                 \
        (out) += sizeof put_value;                                                                 \
    } while (0)

/* Bytes of a column as the server declares it. */
static uint32_t declared_bytes(const struct column *column)
{
    if (!type_is_text(column->type))
        return column->width;
    return column->length * (column->type == TYPE_NCHAR ? 4 : 1) + 2;
}

static bool is_partial(const struct driver *d)
{
    return d->column_count < d->setup->schema->column_count;
}

size_t block_bytes_max(const struct driver *d, uint32_t rows)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    size_t bytes = MESSAGE_HEAD_BYTES + TABLE_NAME_MAX + HEAD_BYTES + 1;
    size_t row = 8;
    for (uint32_t i = 0; i < d->column_count; i++)
        row += declared_bytes(&columns[i]) + 5;
    bytes += (size_t)(d->column_count + 1) * (5 + 4 + (rows + 7) / 8 + sizeof(struct taos_field));
    return bytes + rows * row;
}

static uint8_t *put_bitmap(uint8_t *out, const uint8_t *nulls, uint32_t rows)
{
    const uint32_t bytes = (rows + 7) / 8;
    memset(out, 0, bytes);
    for (uint32_t i = 0; nulls && i < rows; i++)
        out[i / 8] |= (uint8_t)((nulls[i] & 1) << (7 - i % 8));
    return out + bytes;
}

/* UTF-8 as UTF-32, least significant byte first. */
static uint8_t *put_wide(uint8_t *out, const uint8_t *in, uint32_t length)
{
    for (uint32_t i = 0; i < length;) {
        const uint8_t first = in[i++];
        uint32_t code = first & (first < 0x80 ? 127 : first < 0xe0 ? 31 : first < 0xf0 ? 15 : 7);
        while (i < length && (in[i] & 0xc0) == 0x80)
            code = code << 6 | (in[i++] & 63);
        PUT(out, uint32_t, code);
    }
    return out;
}

/* Offsets, then length and bytes of each value. Returns the end; *data is where values begin. */
static uint8_t *put_varied(uint8_t *out, const struct column *column,
                           const struct column_data *data, uint32_t offset, uint32_t rows,
                           const uint8_t **first)
{
    uint8_t *offsets = out, *value = out + (size_t)rows * 4;
    *first = value;
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *in = (const uint8_t *)data->values + (size_t)(offset + i) * column->width;
        const uint32_t length = (uint32_t)data->lengths[offset + i];
        if (data->nulls && data->nulls[offset + i]) {
            PUT(offsets, int32_t, -1);
            continue;
        }
        PUT(offsets, int32_t, value - *first);
        uint8_t *end = value + 2;
        if (column->type == TYPE_NCHAR) {
            end = put_wide(end, in, length);
        } else {
            memcpy(end, in, length);
            end += length;
        }
        const uint16_t bytes = (uint16_t)(end - value - 2);
        memcpy(value, &bytes, sizeof bytes);
        value = end;
    }
    return value;
}

static uint8_t *put_fixed(uint8_t *out, const void *values, uint32_t width, const uint8_t *nulls,
                          uint32_t rows, const uint8_t **first)
{
    out = put_bitmap(out, nulls, rows);
    *first = out;
    memcpy(out, values, (size_t)rows * width);
    return out + (size_t)rows * width;
}

static uint8_t *put_columns(uint8_t *out, uint8_t *sizes, const struct driver *d,
                            const struct batch *batch, const struct slice *slice)
{
    const struct column *columns = d->setup->schema->columns;
    const uint8_t *first;
    out = put_fixed(out, batch->times + slice->offset, 8, NULL, slice->rows, &first);
    PUT(sizes, int32_t, out - first);
    for (uint32_t i = d->first_column; i < d->first_column + d->column_count; i++) {
        const struct column_data *data = &batch->columns[i];
        const uint8_t *values =
            (const uint8_t *)data->values + (size_t)slice->offset * columns[i].width;
        if (type_is_text(columns[i].type))
            out = put_varied(out, &columns[i], data, slice->offset, slice->rows, &first);
        else
            out = put_fixed(out, values, columns[i].width,
                            data->nulls ? data->nulls + slice->offset : NULL, slice->rows, &first);
        PUT(sizes, int32_t, out - first);
    }
    return out;
}

/* The names of the columns, for a block that does not hold all of them. */
static uint8_t *put_fields(uint8_t *out, const struct driver *d)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    struct taos_field field = {
        .name = "ts", .type = (int8_t)tdengine_type(TYPE_TIMESTAMP), .bytes = 8};
    memcpy(out, &field, sizeof field);
    out += sizeof field;
    for (uint32_t i = 0; i < d->column_count; i++, out += sizeof field) {
        field = (struct taos_field){.type = (int8_t)tdengine_type(columns[i].type),
                                    .bytes = (int32_t)declared_bytes(&columns[i])};
        memcpy(field.name, columns[i].name, strlen(columns[i].name));
        memcpy(out, &field, sizeof field);
    }
    return out;
}

size_t block_put(uint8_t *const out, const struct driver *d, const struct batch *batch,
                 const struct slice *slice, uint64_t request)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    char name[TABLE_NAME_MAX];
    const uint32_t name_length = tdengine_table_name(d, slice->table, name);
    uint8_t *at = out, *block, *sizes;
    PUT(at, uint64_t, request);
    PUT(at, uint64_t, request);
    PUT(at, uint64_t, is_partial(d) ? ACTION_BLOCK_WITH_FIELDS : ACTION_BLOCK);
    PUT(at, int32_t, slice->rows);
    PUT(at, uint16_t, name_length);
    memcpy(at, name, name_length);
    block = at += name_length;
    PUT(at, int32_t, BLOCK_VERSION);
    PUT(at, int32_t, 0); /* the length, below */
    PUT(at, int32_t, slice->rows);
    PUT(at, int32_t, d->column_count + 1);
    PUT(at, uint32_t, 0x80000000u);
    PUT(at, uint64_t, 0);
    PUT(at, int8_t, tdengine_type(TYPE_TIMESTAMP));
    PUT(at, int32_t, 8);
    for (uint32_t i = 0; i < d->column_count; i++) {
        PUT(at, int8_t, tdengine_type(columns[i].type));
        PUT(at, int32_t, declared_bytes(&columns[i]));
    }
    sizes = at;
    at = put_columns(at + (size_t)(d->column_count + 1) * 4, sizes, d, batch, slice);
    *at++ = 0;
    const int32_t length = (int32_t)(at - block);
    memcpy(block + 4, &length, sizeof length);
    if (is_partial(d))
        at = put_fields(at, d);
    return (size_t)(at - out);
}
