/* Content in PostgreSQL's binary form; see postgres_content.h. */
#include "postgres_content.h"

#include <stdio.h>

#include "pg_values.h"
#include "sink_values.h"

enum { NUMERIC_NEGATIVE = 0x4000, NUMERIC_TEXT = 512 };

static uint64_t read_bytes(const char *value, int length)
{
    uint64_t bits = 0;
    for (int i = 0; i < length; i++)
        bits = bits << 8 | (uint8_t)value[i];
    return bits;
}

static int16_t read_i16(const char *value)
{
    return (int16_t)read_bytes(value, 2);
}

/* A numeric: four numbers of 16 bits, then digits to the base 10,000, of which the first has the
 * weight 10,000^weight. One that is not a number, or too long, is a text. */
static void hand_numeric(const struct result_sink *sink, const char *value, int length)
{
    const bool is_whole = length >= 8;
    const int digits = is_whole ? read_i16(value) : 0, weight = is_whole ? read_i16(value + 2) : 0;
    const int sign = is_whole ? (int)read_bytes(value + 4, 2) : 0;
    const int scale = is_whole ? read_i16(value + 6) : 0;
    char text[NUMERIC_TEXT];
    if (!is_whole || length < 8 + 2 * digits || (sign != 0 && sign != NUMERIC_NEGATIVE) ||
        weight > 50 || scale > 200) {
        sink_text(sink, "numeric", 7);
        return;
    }
    size_t used = (size_t)snprintf(text, sizeof text, "%s", sign ? "-" : "");
    const size_t begin = used;
    for (int i = 0; i <= weight; i++) {
        const int digit = i < digits ? read_i16(value + 8 + 2 * i) : 0;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, used > begin ? "%04d" : "%d", digit);
    }
    if (weight < 0)
        text[used++] = '0';
    if (scale > 0)
        text[used++] = '.';
    const size_t point = used;
    for (int i = weight + 1; (int)(used - point) < scale; i++) {
        const int digit = i >= 0 && i < digits ? read_i16(value + 8 + 2 * i) : 0;
        used += (size_t)snprintf(text + used, sizeof text - used, "%04d", digit);
    }
    sink->value(sink->context, text, scale > 0 ? point + (size_t)scale : used, true);
}

static void hand_value(const struct result_sink *sink, unsigned type, const char *value, int length)
{
    const uint64_t bits = length <= 8 ? read_bytes(value, length) : 0;
    const uint32_t low = (uint32_t)bits;
    double real;
    float small;
    switch (type) {
    case OID_BOOL:
        sink_whole(sink, bits != 0);
        break;
    case OID_INT2:
        sink_whole(sink, (int16_t)bits);
        break;
    case OID_INT4:
        sink_whole(sink, (int32_t)low);
        break;
    case OID_INT8:
        sink_whole(sink, (int64_t)bits);
        break;
    case OID_FLOAT4:
        memcpy(&small, &low, sizeof small);
        sink_float(sink, small);
        break;
    case OID_FLOAT8:
        memcpy(&real, &bits, sizeof real);
        sink_double(sink, real);
        break;
    case OID_NUMERIC:
        hand_numeric(sink, value, length);
        break;
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        sink_whole(sink, (int64_t)((bits + EPOCH_US) * 1000));
        break;
    default:
        sink_text(sink, value, (size_t)length);
    }
}

void postgres_hand_rows(const struct libpq *p, const PGresult *result,
                        const struct result_sink *sink)
{
    const int rows = p->row_count(result), columns = p->column_count(result);
    for (int r = 0; r < rows; r++) {
        sink->row(sink->context);
        for (int i = 0; i < columns; i++)
            if (p->is_null(result, r, i))
                sink_null(sink);
            else
                hand_value(sink, p->column_type(result, i), p->value(result, r, i),
                           p->length(result, r, i));
    }
}
