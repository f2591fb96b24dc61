/* Values of a batch: which NULLs are left out, and values as one type or as text. */
#ifndef SCALE_CELLS_H
#define SCALE_CELLS_H

#include "../batch.h"
#include "numbers.h"

static inline bool cell_is_null(const struct batch *batch, uint32_t c, uint32_t row)
{
    return batch->columns[c].nulls && batch->columns[c].nulls[row];
}

/* All NULLs are, except the first of a row of nothing but NULLs. */
static inline bool cell_is_left_out(const struct batch *batch, uint32_t c, uint32_t row)
{
    if (!cell_is_null(batch, c, row))
        return false;
    if (c != batch->first_column)
        return true;
    for (uint32_t i = 1; i < batch->column_count; i++)
        if (!cell_is_null(batch, c + i, row))
            return true;
    return false;
}

/* Up to 63 bits; a boolean is 0 or 1. */
static inline int64_t cell_whole(enum type type, const void *values, uint32_t row)
{
    switch (type) {
    case TYPE_BOOL:
        return ((const int8_t *)values)[row] != 0;
    case TYPE_TINYINT:
        return ((const int8_t *)values)[row];
    case TYPE_SMALLINT:
        return ((const int16_t *)values)[row];
    case TYPE_INT:
        return ((const int32_t *)values)[row];
    case TYPE_UTINYINT:
        return ((const uint8_t *)values)[row];
    case TYPE_USMALLINT:
        return ((const uint16_t *)values)[row];
    case TYPE_UINT:
        return ((const uint32_t *)values)[row];
    default: /* bigint, timestamp */
        return ((const int64_t *)values)[row];
    }
}

/* At most NUMBER_BYTES; not for booleans and texts. */
static inline char *cell_put_number(char *out, enum type type, const void *values, uint32_t row)
{
    switch (type) {
    case TYPE_FLOAT:
        return put_float(out, ((const float *)values)[row]);
    case TYPE_DOUBLE:
        return put_double(out, ((const double *)values)[row]);
    case TYPE_UBIGINT:
        return put_unsigned(out, ((const uint64_t *)values)[row]);
    default:
        return put_whole(out, cell_whole(type, values, row));
    }
}

static inline char *cell_put_quoted(char *out, const uint8_t *text, uint32_t length)
{
    *out++ = '"';
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *out++ = '\\';
        *out++ = (char)text[i];
    }
    *out++ = '"';
    return out;
}

#endif
