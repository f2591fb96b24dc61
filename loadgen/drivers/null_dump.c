/* Rows and queries as lines of text; see null_dump.h. */
#include "null_dump.h"

#include <inttypes.h>
#include <string.h>

static void dump_text(FILE *file, const struct column *column, const void *value, int32_t length)
{
    const unsigned char *bytes = value;
    if (column->type == TYPE_BINARY || column->type == TYPE_NCHAR)
        fwrite(value, 1, (size_t)length, file);
    else
        for (int32_t i = 0; i < length; i++)
            fprintf(file, "%02x", bytes[i]);
}

#define DUMP_AS(c_type, format, shown)                                                             \
    do {                                                                                           \
        c_type v;                                                                                  \
        memcpy(&v, value, sizeof v);                                                               \
        fprintf(file, format, (shown)v);                                                           \
    } while (0)

static void dump_fixed(FILE *file, enum type type, const void *value)
{
    switch (type) {
    case TYPE_BOOL:
    case TYPE_UTINYINT:
        DUMP_AS(uint8_t, "%u", unsigned);
        break;
    case TYPE_TINYINT:
        DUMP_AS(int8_t, "%d", int);
        break;
    case TYPE_SMALLINT:
        DUMP_AS(int16_t, "%d", int);
        break;
    case TYPE_USMALLINT:
        DUMP_AS(uint16_t, "%u", unsigned);
        break;
    case TYPE_INT:
        DUMP_AS(int32_t, "%" PRId32, int32_t);
        break;
    case TYPE_UINT:
        DUMP_AS(uint32_t, "%" PRIu32, uint32_t);
        break;
    case TYPE_UBIGINT:
        DUMP_AS(uint64_t, "%" PRIu64, uint64_t);
        break;
    case TYPE_FLOAT:
        DUMP_AS(float, "%.9g", double);
        break;
    case TYPE_DOUBLE:
        DUMP_AS(double, "%.17g", double);
        break;
    default:
        DUMP_AS(int64_t, "%" PRId64, int64_t);
        break;
    }
}

void null_dump_row(FILE *file, const struct batch *batch, const struct slice *slice, uint32_t i)
{
    const uint32_t at = slice->offset + i;
    fprintf(file, "%" PRIu32 ",%" PRIu64 ",%" PRId64, slice->table, slice->first_row + i,
            batch->times[at]);
    for (uint32_t c = batch->first_column; c < batch->first_column + batch->column_count; c++) {
        const struct column *column = &batch->schema->columns[c];
        const struct column_data *data = &batch->columns[c];
        const char *value = (const char *)data->values + (size_t)at * column->width;
        fputc(',', file);
        if (data->nulls && data->nulls[at])
            fputs("NULL", file);
        else if (type_is_text(column->type))
            dump_text(file, column, value, data->lengths[at]);
        else
            dump_fixed(file, column->type, value);
    }
    fputc('\n', file);
}

void null_dump_ask(FILE *file, uint32_t operation, const struct parameter *parameters,
                   uint32_t count)
{
    fprintf(file, "ask,%" PRIu32, operation);
    for (const struct parameter *p = parameters; p < parameters + count; p++) {
        fputs(p->is_table ? ",d" : ",", file);
        if (p->type == TYPE_BINARY) {
            fwrite(p->value, 1, (size_t)p->length, file);
            continue;
        }
        dump_fixed(file, p->is_table ? TYPE_UINT : p->type, p->is_table ? &p->table : p->value);
    }
    fputc('\n', file);
}
