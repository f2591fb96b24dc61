/* Tables, values and tags as SQL text, TDengine's types and errors. */
#include "tdengine.h"

#include <stdio.h>
#include <string.h>

#include "../tags.h"
#include "cells.h"

/* For a load: transient, try again; permanent, end it. */

static bool is_transient(int code)
{
    static const int transient[] = {
        0x000B, 0x0018, 0x0019, 0x0020, 0x0021, /* connecting, broken, timed out, out of service */
        0x0023, 0x0024, /* the network fails, or is busy */
        0x0102, 0x0126, /* out of memory, in the queue of requests */
        0x0125, /* a table's description was renewed: send again */
        0x0130, 0x0131, /* the server is starting, or closing down */
        0x0334, 0x0388, /* no dnode or database is known yet */
        0x0386, 0x0396, 0x03D3, /* the database is being dropped, created, altered */
        0x0503, 0x0520, 0x0528, 0x0529, /* a vnode moved, is full, or stopped */
        0x090C, 0x0911, 0x0914, /* no leader, not ready to propose, restoring */
        0x0916, 0x0917, 0x0918, /* a replica is behind */
    };
    for (size_t i = 0; i < sizeof transient / sizeof *transient; i++)
        if (transient[i] == code)
            return true;
    return false;
}

enum outcome tdengine_fault(int code, const char *words, struct fault *fault)
{
    char text[16];
    const int low = code & 0xffff;
    snprintf(text, sizeof text, "0x%04X", (unsigned)low);
    fault_set(fault, FAULT_SERVER, text, "%s", words && *words ? words : "no words from libtaos");
    fault->is_transient = is_transient(low);
    return fault->is_transient ? OUTCOME_ERROR : OUTCOME_FATAL;
}

size_t tdengine_table_name(const struct driver *d, uint32_t table, char *out)
{
    const size_t length = strlen(d->prefix);
    memcpy(out, d->prefix, length);
    char *end =
        put_whole(out + length, d->number_of ? d->number_of[table] : d->first_table + table);
    *end = '\0';
    return (size_t)(end - out);
}

/* Values as SQL text: reading it gives what `stmt` would have bound. */

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

/* WKB, little endian: a byte of order, four of type, two doubles. */
static char *put_point(char *out, const uint8_t *wkb)
{
    double x, y;
    memcpy(&x, wkb + 5, sizeof x);
    memcpy(&y, wkb + 13, sizeof y);
    memcpy(out, "'POINT(", 7);
    out = put_double(out + 7, x);
    *out++ = ' ';
    out = put_double(out, y);
    memcpy(out, ")'", 2);
    return out + 2;
}

uint32_t tdengine_value_bytes(const struct column *column)
{
    if (column->type == TYPE_GEOMETRY)
        return POINT_BYTES;
    return type_is_text(column->type) ? 2 * column->length + 8 : NUMBER_BYTES;
}

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
        *out = ((const int8_t *)data->values)[row] ? '1' : '0';
        return out + 1;
    case TYPE_VARBINARY:
        return put_hexadecimal(out, text, (uint32_t)data->lengths[row]);
    case TYPE_GEOMETRY:
        return put_point(out, text);
    case TYPE_BINARY:
    case TYPE_NCHAR:
        return put_quoted(out, text, (uint32_t)data->lengths[row]);
    default:
        return cell_put_number(out, column->type, data->values, row);
    }
}

int tdengine_type(enum type type)
{
    static const int numbers[TYPE_COUNT] = {
        [TYPE_BOOL] = 1,      [TYPE_TINYINT] = 2,  [TYPE_SMALLINT] = 3,  [TYPE_INT] = 4,
        [TYPE_BIGINT] = 5,    [TYPE_FLOAT] = 6,    [TYPE_DOUBLE] = 7,    [TYPE_BINARY] = 8,
        [TYPE_TIMESTAMP] = 9, [TYPE_NCHAR] = 10,   [TYPE_UTINYINT] = 11, [TYPE_USMALLINT] = 12,
        [TYPE_UINT] = 13,     [TYPE_UBIGINT] = 14, [TYPE_JSON] = 15,     [TYPE_VARBINARY] = 16,
        [TYPE_GEOMETRY] = 20,
    };
    return numbers[type];
}

uint32_t tdengine_using_bytes(const struct driver *d)
{
    return d->setup->schema->tag_count * (TAG_TEXT_MAX + 1) + 2 * TDENGINE_NAME_MAX + 32;
}

char *tdengine_put_using(const struct driver *d, uint32_t table, char *out)
{
    const struct schema *schema = d->setup->schema;
    out += sprintf(out, " USING `%s`.`%s` TAGS (", d->database, d->table);
    for (uint32_t i = 0; i < schema->tag_count; i++) {
        if (i)
            *out++ = ',';
        out += tag_literal(d->setup->spec, schema, i, table, out);
    }
    *out++ = ')';
    return out;
}
