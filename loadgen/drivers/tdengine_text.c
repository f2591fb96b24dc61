/* Values as SQL text, without printf on the way; numbers are numbers.c's. What is read
 * back is what `stmt` would have bound. */
#include <string.h>

#include "numbers.h"
#include "tdengine_parts.h"

enum { POINT_BYTES = 16 + 2 * NUMBER_BYTES };

static char *put_quoted(char *out, const uint8_t *text, uint32_t length)
{
    *out++ = '\'';
    memcpy(out, text, length);
    if (!memchr(text, '\'', length) && !memchr(text, '\\', length)) {
        out += length;
    } else {
        for (uint32_t i = 0; i < length; i++) {
            if (text[i] == '\'' || text[i] == '\\')
                *out++ = '\\';
            *out++ = (char)text[i];
        }
    }
    *out++ = '\'';
    return out;
}

static char *put_hexadecimal(char *out, const uint8_t *bytes, uint32_t length)
{
    static const char digits[] = "0123456789abcdef";
    memcpy(out, "'\\x", 3);
    out += 3;
    for (uint32_t i = 0; i < length; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out++ = '\'';
    return out;
}

/* WKB of a point, little endian: a byte of order, four of type, two doubles. */
static char *put_point(char *out, const uint8_t *wkb)
{
    double x, y;
    memcpy(&x, wkb + 5, sizeof x);
    memcpy(&y, wkb + 13, sizeof y);
    memcpy(out, "'POINT(", 7);
    out = numbers_put_double(out + 7, x);
    *out++ = ' ';
    out = numbers_put_double(out, y);
    memcpy(out, ")'", 2);
    return out + 2;
}

uint32_t tdengine_value_bytes(const struct column *column)
{
    if (column->type == TYPE_GEOMETRY)
        return POINT_BYTES;
    return type_is_text(column->type) ? 2 * column->length + 8 : NUMBER_BYTES;
}

#define VALUE(ctype) (((const ctype *)data->values)[row])

char *tdengine_put_value(char *out, const struct column *column, const struct column_data *data,
                         uint32_t row)
{
    const uint8_t *text = (const uint8_t *)data->values + (size_t)row * column->width;
    if (data->nulls && data->nulls[row]) {
        memcpy(out, "NULL", 4);
        return out + 4;
    }
    switch (column->type) {
    case TYPE_BOOL:
        *out = VALUE(int8_t) ? '1' : '0';
        return out + 1;
    case TYPE_TINYINT:
        return put_whole(out, VALUE(int8_t));
    case TYPE_SMALLINT:
        return put_whole(out, VALUE(int16_t));
    case TYPE_INT:
        return put_whole(out, VALUE(int32_t));
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP:
        return put_whole(out, VALUE(int64_t));
    case TYPE_UTINYINT:
        return put_unsigned(out, VALUE(uint8_t));
    case TYPE_USMALLINT:
        return put_unsigned(out, VALUE(uint16_t));
    case TYPE_UINT:
        return put_unsigned(out, VALUE(uint32_t));
    case TYPE_UBIGINT:
        return put_unsigned(out, VALUE(uint64_t));
    case TYPE_FLOAT:
        return put_float(out, VALUE(float));
    case TYPE_DOUBLE:
        return put_double(out, VALUE(double));
    case TYPE_VARBINARY:
        return put_hexadecimal(out, text, (uint32_t)data->lengths[row]);
    case TYPE_GEOMETRY:
        return put_point(out, text);
    default:
        return put_quoted(out, text, (uint32_t)data->lengths[row]);
    }
}
