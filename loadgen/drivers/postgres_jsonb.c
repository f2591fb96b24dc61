/* All values of a row as one JSON object, in the binary format of the type jsonb: a byte with the
 * version, then the text. NULL is null, a time is a whole number in the units of the spec.
 * Nothing is allocated here but at `open`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "pg_values.h"
#include "postgres.h"

enum { JSONB_VERSION = 1, MEMBER_BYTES = NAME_MAX_BYTES + 8, LEFT_TO_WRITE = 8 };

struct postgres_json {
    struct member {
        char text[MEMBER_BYTES]; /* ,"current": */
        uint32_t length;
    } members[COLUMNS_MAX];
};

/* The number of bytes of a value's text is not known before it is written. */
static uint64_t value_bytes(const struct column *column)
{
    return type_is_text(column->type) ? 2 * (uint64_t)column->length + 2 : NUMBER_BYTES;
}

uint64_t postgres_json_row_bytes(const struct schema *schema, uint32_t first, uint32_t count)
{
    uint64_t bytes = postgres_row_bytes(schema, 0, 0) + 4 + 1 + 2 + LEFT_TO_WRITE;
    for (uint32_t i = first; i < first + count; i++)
        bytes += strlen(schema->columns[i].name) + 4 + value_bytes(&schema->columns[i]);
    return bytes;
}

enum outcome postgres_open_json(struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    d->json = calloc(1, sizeof *d->json);
    if (!d->json)
        return fault_no_memory(fault);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        struct member *member = &d->json->members[i];
        if (column->type == TYPE_VARBINARY || column->type == TYPE_GEOMETRY) {
            fault_set(fault, FAULT_SPEC, "COLUMNS", "columns: %s: JSON has no type %s",
                      column->name, type_name(column->type));
            return OUTCOME_FATAL;
        }
        member->length =
            (uint32_t)snprintf(member->text, sizeof member->text,
                               "%c\"%.*s\":", i == postgres_first_column(d) ? '{' : ',',
                               NAME_MAX_BYTES - 1, column->name);
    }
    return OUTCOME_OK;
}

static char *put_quoted(char *out, const uint8_t *text, uint32_t length)
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

static char *put_text(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

#define VALUE(ctype) (((const ctype *)data->values)[row])

static char *put_value(char *out, const struct column *column, const struct column_data *data,
                       uint32_t row)
{
    switch (column->type) {
    case TYPE_BOOL:
        return VALUE(int8_t) ? put_text(out, "true", 4) : put_text(out, "false", 5);
    case TYPE_FLOAT:
        return put_float(out, VALUE(float));
    case TYPE_DOUBLE:
        return put_double(out, VALUE(double));
    case TYPE_TINYINT:
        return put_whole(out, VALUE(int8_t));
    case TYPE_SMALLINT:
        return put_whole(out, VALUE(int16_t));
    case TYPE_INT:
        return put_whole(out, VALUE(int32_t));
    case TYPE_UTINYINT:
        return put_unsigned(out, VALUE(uint8_t));
    case TYPE_USMALLINT:
        return put_unsigned(out, VALUE(uint16_t));
    case TYPE_UINT:
        return put_unsigned(out, VALUE(uint32_t));
    case TYPE_UBIGINT:
        return put_unsigned(out, VALUE(uint64_t));
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP:
        return put_whole(out, VALUE(int64_t));
    default: /* text */
        return put_quoted(out, (const uint8_t *)data->values + (size_t)row * column->width,
                          (uint32_t)data->lengths[row]);
    }
}

uint8_t *postgres_put_json(const struct postgres_json *json, const struct batch *b, uint32_t row,
                           uint8_t *out)
{
    char *at = (char *)out + 5;
    out[4] = JSONB_VERSION;
    for (uint32_t c = b->first_column; c < b->first_column + b->column_count; c++) {
        const struct column_data *data = &b->columns[c];
        at = put_text(at, json->members[c].text, json->members[c].length);
        at = data->nulls && data->nulls[row] ? put_text(at, "null", 4)
                                             : put_value(at, &b->schema->columns[c], data, row);
    }
    *at++ = '}';
    put_u32(out, (uint32_t)(at - (char *)out) - 4);
    return (uint8_t *)at;
}
