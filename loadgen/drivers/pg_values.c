/* See pg_values.h. */
#include "pg_values.h"

uint32_t pg_wire_bytes(const struct column *column)
{
    static const uint8_t bytes[TYPE_COUNT] = {
        [TYPE_BOOL] = 1,      [TYPE_TINYINT] = 2, [TYPE_UTINYINT] = 2, [TYPE_SMALLINT] = 2,
        [TYPE_USMALLINT] = 4, [TYPE_INT] = 4,     [TYPE_FLOAT] = 4,    [TYPE_UINT] = 8,
        [TYPE_BIGINT] = 8,    [TYPE_UBIGINT] = 8, [TYPE_DOUBLE] = 8,   [TYPE_TIMESTAMP] = 8};
    return bytes[column->type] ? bytes[column->type] : column->width;
}

uint8_t *pg_put_array_start(uint8_t *out, unsigned element, bool has_nulls, uint32_t rows)
{
    out = put_u32(out, 1); /* dimensions */
    out = put_u32(put_u32(out, has_nulls), element);
    return put_u32(put_u32(out, rows), 1); /* number of the first value */
}

void pg_put_column(const struct us_ratio *us, uint8_t *out, size_t stride,
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
            put_u64(out, (uint64_t)pg_us(us, (int64_t)get_u64(in + (size_t)i * 8)));
        break;
    default: /* bool */
        for (uint32_t i = 0; i < n; i++, out += stride)
            *out = in[i];
        break;
    }
}

uint8_t *pg_put_field(const struct us_ratio *us, uint8_t *out, const struct column *column,
                      const struct column_data *data, uint32_t row)
{
    const uint8_t *value = (const uint8_t *)data->values + (size_t)row * column->width;
    uint32_t bytes = pg_wire_bytes(column);
    if (data->nulls && data->nulls[row]) {
        put_u32(out, UINT32_MAX);
        return out + 4;
    }
    if (data->lengths) {
        bytes = (uint32_t)data->lengths[row];
        memcpy(out + 4, value, bytes);
    } else {
        pg_put_column(us, out + 4, 0, column, value, 1);
    }
    put_u32(out, bytes);
    return out + 4 + bytes;
}
