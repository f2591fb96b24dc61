/* Raw blocks of columns, read: a head (version, length, rows, columns, flags, group), the type and
 * the width of each column, the bytes of each column, then the columns. One of fixed width has a
 * bitmap of its NULLs and its values; one of text has the place of each value, -1 for NULL, and the
 * values, each after its length of 2 bytes. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "answer_value.h"
#include "tdengine_ask.h"
#include "tdengine_types.h"

enum { HEAD_BYTES = 28, FIELD_BYTES = 5, LENGTH_PLACE = 4, ROWS_PLACE = 8, COLUMNS_PLACE = 12 };

struct raw_column {
    int type;
    uint32_t width;
    const uint8_t *start; /* of the bitmap, or of the places */
    const uint8_t *values;
};

#define READ_AT(ctype, place) read_##ctype(place)
#define READER(ctype)                                                                              \
    static ctype read_##ctype(const uint8_t *place)                                                \
    {                                                                                              \
        ctype value;                                                                               \
        memcpy(&value, place, sizeof value);                                                       \
        return value;                                                                              \
    }
READER(int16_t)
READER(int32_t)
READER(int64_t)
READER(uint16_t)
READER(uint32_t)
READER(float)
READER(double)

/* Of a value of fixed width; a value of any other type is read as 8 bytes. */
static uint32_t width_of(int type)
{
    switch (type) {
    case T_BOOL:
    case T_TINYINT:
    case T_UTINYINT:
        return 1;
    case T_SMALLINT:
    case T_USMALLINT:
        return 2;
    case T_INT:
    case T_UINT:
    case T_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static bool is_text(int type)
{
    return type == T_VARCHAR || type == T_NCHAR || type == T_JSON || type == T_VARBINARY ||
           type == T_GEOMETRY;
}

uint32_t raw_block_bytes(const void *block)
{
    return READ_AT(uint32_t, (const uint8_t *)block + LENGTH_PLACE);
}

/* One character of UTF-32 as UTF-8; returns its bytes. */
static uint32_t narrow(const uint8_t *wide, uint8_t out[4])
{
    const uint32_t code = READ_AT(uint32_t, wide);
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    const uint32_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    out[0] = (uint8_t)(0xf00u >> n | code >> 6 * (n - 1));
    for (uint32_t k = 1; k < n; k++)
        out[k] = (uint8_t)(0x80 | (code >> 6 * (n - 1 - k) & 63));
    return n;
}

/* The text of a row. room: for the UTF-8 of a text that came as UTF-32, which is no longer. */
static struct answer_value text_at(const struct raw_column *column, uint32_t row,
                                   uint8_t room[UINT16_MAX])
{
    const int32_t place = READ_AT(int32_t, column->start + (size_t)row * 4);
    if (place < 0)
        return (struct answer_value){.kind = ANSWER_NULL};
    const uint8_t *value = column->values + place;
    const uint32_t bytes = READ_AT(uint16_t, value);
    if (column->type != T_NCHAR)
        return (struct answer_value){
            .kind = ANSWER_TEXT, .text = (const char *)value + 2, .length = bytes};
    size_t used = 0;
    for (uint32_t i = 0; i + 4 <= bytes; i += 4)
        used += narrow(value + 2 + i, room + used);
    return (struct answer_value){.kind = ANSWER_TEXT, .text = (const char *)room, .length = used};
}

static struct answer_value value_at(const struct raw_column *column, uint32_t row,
                                    int64_t ns_per_unit, uint8_t room[UINT16_MAX])
{
    const uint8_t *value = column->values + (size_t)row * column->width;
    struct answer_value found = {.kind = ANSWER_WHOLE};
    if (is_text(column->type))
        return text_at(column, row, room);
    if (column->start[row / 8] >> (7 - row % 8) & 1)
        return (struct answer_value){.kind = ANSWER_NULL};
    switch (column->type) {
    case T_BOOL:
    case T_UTINYINT:
        found.whole = *value;
        break;
    case T_TINYINT:
        found.whole = *value < 128 ? *value : *value - 256;
        break;
    case T_SMALLINT:
        found.whole = READ_AT(int16_t, value);
        break;
    case T_USMALLINT:
        found.whole = READ_AT(uint16_t, value);
        break;
    case T_INT:
        found.whole = READ_AT(int32_t, value);
        break;
    case T_UINT:
        found.whole = READ_AT(uint32_t, value);
        break;
    case T_FLOAT:
        found.kind = ANSWER_FLOAT;
        found.real = (double)READ_AT(float, value);
        break;
    case T_DOUBLE:
        found.kind = ANSWER_DOUBLE;
        found.real = READ_AT(double, value);
        break;
    case T_TIMESTAMP:
        found.whole = (int64_t)((uint64_t)READ_AT(int64_t, value) * (uint64_t)ns_per_unit);
        break;
    case T_UBIGINT:
        found.kind = ANSWER_UNSIGNED;
        found.whole = READ_AT(int64_t, value);
        break;
    default:
        found.whole = READ_AT(int64_t, value);
    }
    return found;
}

/* Whether each text of the column lies within its `bytes`. */
static bool has_texts(const struct raw_column *column, uint32_t rows, uint64_t bytes)
{
    for (uint32_t row = 0; row < rows; row++) {
        const int64_t place = READ_AT(int32_t, column->start + (size_t)row * 4);
        if (place >= 0 && ((uint64_t)place + 2 > bytes ||
                           (uint64_t)place + 2 + READ_AT(uint16_t, column->values + place) > bytes))
            return false;
    }
    return true;
}

/* Where the columns begin: behind the head, the types and the lengths; 0 where the block is
 * shorter. */
static uint64_t columns_place(const uint8_t *block, uint32_t count)
{
    const uint64_t place = HEAD_BYTES + (uint64_t)count * (FIELD_BYTES + 4);
    return place <= raw_block_bytes(block) ? place : 0;
}

/* Finds the columns in the block; false when they are not where its lengths say. */
static bool find_columns(const uint8_t *block, struct raw_column *columns, uint32_t count,
                         uint32_t rows)
{
    const uint8_t *const lengths = block + HEAD_BYTES + (size_t)count * FIELD_BYTES;
    uint64_t at = columns_place(block, count), left = raw_block_bytes(block) - at;
    for (uint32_t i = 0; i < count; i++) {
        struct raw_column *column = &columns[i];
        const uint8_t *field = block + HEAD_BYTES + (size_t)i * FIELD_BYTES;
        column->type = *field;
        column->width = READ_AT(uint32_t, field + 1);
        const uint64_t before =
            is_text(column->type) ? (uint64_t)rows * 4 : ((uint64_t)rows + 7) / 8;
        const uint64_t bytes = READ_AT(uint32_t, lengths + (size_t)i * 4);
        if (before > left || bytes > left - before)
            return false;
        column->start = block + at;
        column->values = column->start + before;
        at += before + bytes;
        left -= before + bytes;
        if (is_text(column->type)
                ? !has_texts(column, rows, bytes)
                : bytes != (uint64_t)rows * column->width || column->width < width_of(column->type))
            return false;
    }
    return true;
}

bool raw_block_take(const void *block, int64_t ns_per_unit, uint64_t *digest,
                    const struct result_sink *sink)
{
    const uint32_t rows = READ_AT(uint32_t, (const uint8_t *)block + ROWS_PLACE);
    const uint32_t count = READ_AT(uint32_t, (const uint8_t *)block + COLUMNS_PLACE);
    if (count == 0 || !columns_place(block, count))
        return rows == 0;
    struct raw_column *columns = calloc((size_t)count + 1, sizeof *columns);
    const bool ok = columns && find_columns(block, columns, count, rows);
    uint64_t found = *digest;
    uint8_t room[UINT16_MAX];
    for (uint32_t row = 0; ok && row < rows; row++) {
        if (sink)
            sink->row(sink->context);
        for (uint32_t i = 0; i < count; i++) {
            const struct answer_value value = value_at(&columns[i], row, ns_per_unit, room);
            found = answer_digest(found, &value);
            if (sink)
                answer_hand(sink, &value);
        }
        found = digest_word(found, DIGEST_ROW);
    }
    *digest = found;
    free(columns);
    return ok;
}

void raw_block_last_time(const void *block, int64_t ns_per_unit, int64_t *ns)
{
    const uint8_t *bytes = block;
    const uint32_t rows = READ_AT(uint32_t, bytes + ROWS_PLACE);
    const uint32_t count = READ_AT(uint32_t, bytes + COLUMNS_PLACE);
    const uint64_t nulls = columns_place(block, count), values = nulls + ((uint64_t)rows + 7) / 8;
    if (nulls == 0 || rows == 0 || count == 0 || bytes[HEAD_BYTES] != T_TIMESTAMP ||
        values + (uint64_t)rows * sizeof(int64_t) > raw_block_bytes(block) ||
        bytes[nulls + (rows - 1) / 8] >> (7 - (rows - 1) % 8) & 1)
        return;
    const int64_t last = READ_AT(int64_t, bytes + values + (size_t)(rows - 1) * sizeof(int64_t));
    int64_t found;
    if (!__builtin_mul_overflow(last, ns_per_unit, &found))
        *ns = found;
}
