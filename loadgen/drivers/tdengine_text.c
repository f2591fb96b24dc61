/* Values as SQL text, without printf on the way: whole numbers digit by digit, real numbers with
 * six decimals and no trailing zeros (as taosBenchmark writes them; `stmt` carries every bit). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tdengine.h"

enum { DECIMALS = 1000000, NUMBER_BYTES = 40, POINT_BYTES = 96 };

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

static char *put_unsigned(char *out, uint64_t value)
{
    char digits[20];
    uint32_t at = sizeof digits;
    while (value >= 100) {
        at -= 2;
        memcpy(digits + at, pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        at -= 2;
        memcpy(digits + at, pairs + 2 * value, 2);
    } else {
        digits[--at] = (char)('0' + value);
    }
    memcpy(out, digits + at, sizeof digits - at);
    return out + sizeof digits - at;
}

char *tdengine_put_whole(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return put_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

static char *put_real(char *out, double value)
{
    if (!(fabs(value) < 1e12))
        return out + snprintf(out, NUMBER_BYTES, "%.17g", value);
    const uint64_t scaled = (uint64_t)(fabs(value) * DECIMALS + 0.5);
    uint32_t rest = (uint32_t)(scaled % DECIMALS);
    if (value < 0 && scaled > 0)
        *out++ = '-';
    out = put_unsigned(out, scaled / DECIMALS);
    if (rest == 0)
        return out;
    *out++ = '.';
    for (uint32_t unit = DECIMALS / 10; rest > 0; unit /= 10) {
        *out++ = (char)('0' + rest / unit);
        rest %= unit;
    }
    return out;
}

static char *put_quoted(char *out, const uint8_t *text, uint32_t length)
{
    *out++ = '\'';
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            *out++ = '\\';
        *out++ = (char)text[i];
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
    return out + snprintf(out, POINT_BYTES, "'POINT(%.6f %.6f)'", x, y);
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
        return tdengine_put_whole(out, VALUE(int8_t));
    case TYPE_SMALLINT:
        return tdengine_put_whole(out, VALUE(int16_t));
    case TYPE_INT:
        return tdengine_put_whole(out, VALUE(int32_t));
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP:
        return tdengine_put_whole(out, VALUE(int64_t));
    case TYPE_UTINYINT:
        return put_unsigned(out, VALUE(uint8_t));
    case TYPE_USMALLINT:
        return put_unsigned(out, VALUE(uint16_t));
    case TYPE_UINT:
        return put_unsigned(out, VALUE(uint32_t));
    case TYPE_UBIGINT:
        return put_unsigned(out, VALUE(uint64_t));
    case TYPE_FLOAT:
        return put_real(out, (double)VALUE(float));
    case TYPE_DOUBLE:
        return put_real(out, VALUE(double));
    case TYPE_VARBINARY:
        return put_hexadecimal(out, text, (uint32_t)data->lengths[row]);
    case TYPE_GEOMETRY:
        return put_point(out, text);
    default:
        return put_quoted(out, text, (uint32_t)data->lengths[row]);
    }
}
