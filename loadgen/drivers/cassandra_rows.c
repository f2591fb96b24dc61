/* Rows as values of CQL; see cassandra_rows.h. */
#include "cassandra_rows.h"

#include "numbers.h"

#define NOT_SET ((uint32_t)-2)

const struct column *cassandra_lacks(const struct schema *schema, uint32_t first, uint32_t count)
{
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        if (c->type == TYPE_UBIGINT || c->type == TYPE_VARBINARY || c->type == TYPE_GEOMETRY)
            return c;
    return NULL;
}

uint64_t cassandra_row_bytes(const struct schema *schema, uint32_t first, uint32_t count)
{
    uint64_t bytes = 2 + 4 + 1 + NUMBER_BYTES + 4 + 8;
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        bytes += 4 + (type_is_text(c->type) ? c->width : 8);
    return bytes;
}

static uint8_t *put8(uint8_t *out, uint8_t value)
{
    out = cql_put32(out, 1);
    *out = value;
    return out + 1;
}

static uint8_t *put16(uint8_t *out, int16_t value)
{
    return cql_put16(cql_put32(out, 2), (uint16_t)value);
}

static uint8_t *put32(uint8_t *out, int32_t value)
{
    return cql_put32(cql_put32(out, 4), (uint32_t)value);
}

static uint8_t *put64(uint8_t *out, int64_t value)
{
    return cql_put64(cql_put32(out, 8), (uint64_t)value);
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, uint32_t length)
{
    out = cql_put32(out, length);
    memcpy(out, bytes, length);
    return out + length;
}

#define VALUE(ctype) (((const ctype *)data->values)[row])

/* An unsigned number becomes the next larger signed one. */
static uint8_t *put_value(uint8_t *out, const struct column *column, const struct column_data *data,
                          uint32_t row)
{
    switch (column->type) {
    case TYPE_BOOL:
    case TYPE_TINYINT:
        return put8(out, VALUE(uint8_t));
    case TYPE_SMALLINT:
        return put16(out, VALUE(int16_t));
    case TYPE_UTINYINT:
        return put16(out, VALUE(uint8_t));
    case TYPE_INT:
    case TYPE_FLOAT: /* its bits */
        return put32(out, VALUE(int32_t));
    case TYPE_USMALLINT:
        return put32(out, VALUE(uint16_t));
    case TYPE_UINT:
        return put64(out, VALUE(uint32_t));
    case TYPE_BINARY:
    case TYPE_NCHAR:
        return put_bytes(out, (const uint8_t *)data->values + (size_t)row * column->width,
                         (uint32_t)data->lengths[row]);
    default: /* bigint, timestamp, and the bits of a double */
        return put64(out, VALUE(int64_t));
    }
}

uint8_t *cassandra_put_row(uint8_t *out, const struct batch *batch, uint32_t table, uint32_t row)
{
    char device[NUMBER_BYTES + 1] = "d";
    const char *end = numbers_put_unsigned(device + 1, table);
    out = cql_put16(out, (uint16_t)(2 + batch->column_count));
    out = put_bytes(out, device, (uint32_t)(end - device));
    out = put64(out, batch->times[row]);
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const uint32_t c = batch->first_column + i;
        const struct column_data *data = &batch->columns[c];
        out = data->nulls && data->nulls[row]
                  ? cql_put32(out, NOT_SET)
                  : put_value(out, &batch->schema->columns[c], data, row);
    }
    return out;
}
