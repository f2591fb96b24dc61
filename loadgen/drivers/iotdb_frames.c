/* See iotdb_frames.h. */
#include "iotdb_frames.h"

#include <stdlib.h>

#include "numbers.h"

enum iotdb_type { BOOLEAN = 0, INT32, INT64, FLOAT, DOUBLE, TEXT, TIMESTAMP = 8, BLOB = 10 };

enum { FIELDS_BYTES = 128 }; /* bytes of a slice besides its fields */

const struct column *iotdb_lacks(const struct schema *schema, uint32_t first, uint32_t count)
{
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        if (c->type == TYPE_UBIGINT)
            return c;
    return NULL;
}

/* An unsigned number becomes the next larger signed one, a small one an INT32. */
static enum iotdb_type type_of(const struct column *column)
{
    static const uint8_t types[TYPE_COUNT] = {
        [TYPE_BOOL] = BOOLEAN,   [TYPE_TINYINT] = INT32,       [TYPE_UTINYINT] = INT32,
        [TYPE_SMALLINT] = INT32, [TYPE_USMALLINT] = INT32,     [TYPE_INT] = INT32,
        [TYPE_UINT] = INT64,     [TYPE_BIGINT] = INT64,        [TYPE_FLOAT] = FLOAT,
        [TYPE_DOUBLE] = DOUBLE,  [TYPE_TIMESTAMP] = TIMESTAMP, [TYPE_BINARY] = TEXT,
        [TYPE_NCHAR] = TEXT,     [TYPE_VARBINARY] = BLOB,      [TYPE_GEOMETRY] = BLOB};
    return (enum iotdb_type)types[column->type];
}

bool iotdb_form_init(struct iotdb_form *form, const struct spec *spec, const struct schema *schema)
{
    const struct column *columns = schema->columns + spec->partial_from;
    uint8_t *names, *types;
    form->schema = schema;
    form->first_column = (uint32_t)spec->partial_from;
    form->column_count = spec_column_count(spec, schema->column_count);
    form->database = spec->database ? spec->database : "root.scale";
    form->database_length = strlen(form->database);
    names = form->names = malloc(5 + (size_t)form->column_count * (4 + NAME_MAX_BYTES));
    types = form->types = malloc(5 + (size_t)form->column_count * 4);
    if (!names || !types)
        return false;
    names = thrift_put_list(names, THRIFT_STRING, form->column_count);
    types = thrift_put_list(types, THRIFT_I32, form->column_count);
    for (uint32_t i = 0; i < form->column_count; i++) {
        names = thrift_put_bytes(names, columns[i].name, strlen(columns[i].name));
        types = put_u32(types, type_of(&columns[i]));
    }
    form->names_length = (size_t)(names - form->names);
    form->types_length = (size_t)(types - form->types);
    return true;
}

void iotdb_form_free(struct iotdb_form *form)
{
    free(form->names);
    free(form->types);
}

uint64_t iotdb_row_bytes(const struct iotdb_form *form)
{
    const struct column *c = form->schema->columns + form->first_column;
    uint64_t bytes = 8;
    for (uint32_t i = 0; i < form->column_count; i++)
        bytes += 1 + (type_is_text(c[i].type) ? 4 + c[i].width : 8);
    return bytes;
}

uint64_t iotdb_record_bytes(const struct iotdb_form *form)
{
    return iotdb_row_bytes(form) + form->database_length + NUMBER_BYTES + 16 + form->names_length;
}

uint64_t iotdb_slice_bytes(const struct iotdb_form *form)
{
    return form->database_length + NUMBER_BYTES + FIELDS_BYTES + form->names_length +
           form->types_length + 2 * (uint64_t)form->column_count;
}

uint8_t *iotdb_put_device(uint8_t *out, const struct iotdb_form *form, uint32_t table)
{
    uint8_t *const length = out;
    memcpy(out + 4, form->database, form->database_length);
    out += 4 + form->database_length;
    *out++ = '.';
    *out++ = 'd';
    out = (uint8_t *)put_unsigned((char *)out, table);
    put_u32(length, (uint32_t)(out - length) - 4);
    return out;
}

static uint8_t *put_wide(uint8_t *restrict out, const void *values, uint32_t rows)
{
    const uint64_t *from = values;
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t big = __builtin_bswap64(from[i]);
        memcpy(out + 8 * (size_t)i, &big, sizeof big);
    }
    return out + 8 * (size_t)rows;
}

static uint8_t *put_words(uint8_t *restrict out, const void *values, uint32_t rows)
{
    const uint32_t *from = values;
    for (uint32_t i = 0; i < rows; i++) {
        const uint32_t big = __builtin_bswap32(from[i]);
        memcpy(out + 4 * (size_t)i, &big, sizeof big);
    }
    return out + 4 * (size_t)rows;
}

static uint8_t *iotdb_put_times(uint8_t *out, const struct batch *batch, const struct slice *slice)
{
    out = put_u32(out, 8 * slice->rows);
    return put_wide(out, batch->times + slice->offset, slice->rows);
}

#define VALUE(ctype) (((const ctype *)data->values)[row])

static inline bool is_null(const struct column_data *data, uint32_t row)
{
    return data->nulls && data->nulls[row];
}

static uint8_t *put_value(uint8_t *out, const struct column *column, const struct column_data *data,
                          uint32_t row)
{
    switch (column->type) {
    case TYPE_BOOL:
        return thrift_put8(out, VALUE(uint8_t));
    case TYPE_TINYINT:
        return put_u32(out, (uint32_t)VALUE(int8_t));
    case TYPE_UTINYINT:
        return put_u32(out, VALUE(uint8_t));
    case TYPE_SMALLINT:
        return put_u32(out, (uint32_t)VALUE(int16_t));
    case TYPE_USMALLINT:
        return put_u32(out, VALUE(uint16_t));
    case TYPE_INT:
    case TYPE_FLOAT: /* the bits of the float */
        return put_u32(out, VALUE(uint32_t));
    case TYPE_UINT:
        return put_u64(out, VALUE(uint32_t));
    case TYPE_BINARY:
    case TYPE_NCHAR:
    case TYPE_VARBINARY:
    case TYPE_GEOMETRY:
        return thrift_put_bytes(out, (const uint8_t *)data->values + (size_t)row * column->width,
                                (size_t)data->lengths[row]);
    default: /* bigint, timestamp, and the bits of a double */
        return put_u64(out, VALUE(uint64_t));
    }
}

/* A row of nothing but NULLs sends its first value. */
static bool is_sent(const struct iotdb_form *form, const struct batch *batch, uint32_t i,
                    uint32_t row)
{
    const struct column_data *columns = batch->columns + form->first_column;
    if (!is_null(&columns[i], row))
        return true;
    for (uint32_t other = 0; other < form->column_count; other++)
        if (i > 0 || !is_null(&columns[other], row))
            return false;
    return true;
}

static uint8_t *put_column(uint8_t *out, const struct iotdb_form *form, const struct batch *batch,
                           const struct slice *slice, uint32_t i)
{
    const struct column *column = form->schema->columns + form->first_column + i;
    const struct column_data *data = batch->columns + form->first_column + i;
    const char *values = (const char *)data->values + (size_t)slice->offset * column->width;
    switch (column->type) {
    case TYPE_BOOL:
        memcpy(out, values, slice->rows);
        return out + slice->rows;
    case TYPE_INT:
    case TYPE_FLOAT:
        return put_words(out, values, slice->rows);
    case TYPE_BIGINT:
    case TYPE_TIMESTAMP:
    case TYPE_DOUBLE:
        return put_wide(out, values, slice->rows);
    default:
        for (uint32_t row = slice->offset; row < slice->offset + slice->rows; row++)
            out = type_is_text(column->type) && !is_sent(form, batch, i, row)
                      ? put_u32(out, 0)
                      : put_value(out, column, data, row);
        return out;
    }
}

/* Bit 0 of byte 0 is the first row, a set bit is a NULL. */
static uint8_t *put_nulls(uint8_t *out, const struct iotdb_form *form, const struct batch *batch,
                          const struct slice *slice, uint32_t i)
{
    const size_t bytes = slice->rows / 8 + 1;
    *out++ = 1;
    memset(out, 0, bytes);
    for (uint32_t row = 0; row < slice->rows; row++)
        if (!is_sent(form, batch, i, slice->offset + row))
            out[row / 8] |= (uint8_t)(1u << row % 8);
    return out + bytes;
}

static uint8_t *iotdb_put_values(uint8_t *out, const struct iotdb_form *form,
                                 const struct batch *batch, const struct slice *slice)
{
    const struct column_data *data = batch->columns + form->first_column;
    uint8_t *const length = out;
    bool has_nulls = false;
    out += 4;
    for (uint32_t i = 0; i < form->column_count; i++) {
        out = put_column(out, form, batch, slice, i);
        has_nulls |= data[i].nulls != NULL;
    }
    for (uint32_t i = 0; has_nulls && i < form->column_count; i++)
        out = put_nulls(out, form, batch, slice, i);
    put_u32(length, (uint32_t)(out - length) - 4);
    return out;
}

static uint8_t *iotdb_put_record_names(uint8_t *out, const struct iotdb_form *form,
                                       const struct batch *batch, uint32_t row)
{
    const struct column *column = form->schema->columns + form->first_column;
    uint8_t *const count = out;
    uint32_t sent = 0;
    out += 5;
    for (uint32_t i = 0; i < form->column_count; i++)
        if (is_sent(form, batch, i, row)) {
            out = thrift_put_bytes(out, column[i].name, strlen(column[i].name));
            sent++;
        }
    thrift_put_list(count, THRIFT_STRING, sent);
    return out;
}

static uint8_t *iotdb_put_record(uint8_t *out, const struct iotdb_form *form,
                                 const struct batch *batch, uint32_t row)
{
    const struct column *column = form->schema->columns + form->first_column;
    const struct column_data *data = batch->columns + form->first_column;
    uint8_t *const length = out;
    out += 4;
    for (uint32_t i = 0; i < form->column_count; i++)
        if (is_sent(form, batch, i, row)) {
            *out++ = (uint8_t)type_of(&column[i]);
            out = put_value(out, &column[i], &data[i], row);
        }
    put_u32(length, (uint32_t)(out - length) - 4);
    return out;
}

/* Numbers of fields are those in IoTDB's client.thrift. */

/* The session is the first field of a request. */
static uint8_t *begin(uint8_t *frame, const char *name, const struct iotdb_call *call)
{
    uint8_t *out = thrift_begin(frame, name, call->number);
    out = thrift_put_field(out, THRIFT_STRUCT, 1);
    return put_u64(thrift_put_field(out, THRIFT_I64, 1), (uint64_t)call->session);
}

static uint8_t *end(uint8_t *frame, uint8_t *out)
{
    return thrift_end(frame, thrift_put8(out, THRIFT_STOP));
}

static uint8_t *put_aligned(uint8_t *out, uint8_t id, const struct iotdb_form *form)
{
    return thrift_put8(thrift_put_field(out, THRIFT_BOOL, id), form->is_aligned);
}

static uint8_t *put_made(uint8_t *out, const uint8_t *list, size_t length)
{
    memcpy(out, list, length);
    return out + length;
}

uint8_t *iotdb_put_tablet(uint8_t *frame, const struct iotdb_call *call, const struct slice *slice)
{
    const struct iotdb_form *form = call->form;
    uint8_t *out = begin(frame, "insertTablet", call);
    out = iotdb_put_device(thrift_put_field(out, THRIFT_STRING, 2), form, slice->table);
    out = put_made(thrift_put_field(out, THRIFT_LIST, 3), form->names, form->names_length);
    out = iotdb_put_values(thrift_put_field(out, THRIFT_STRING, 4), form, call->batch, slice);
    out = iotdb_put_times(thrift_put_field(out, THRIFT_STRING, 5), call->batch, slice);
    out = put_made(thrift_put_field(out, THRIFT_LIST, 6), form->types, form->types_length);
    out = put_u32(thrift_put_field(out, THRIFT_I32, 7), slice->rows);
    return end(frame, put_aligned(out, 8, form));
}

uint8_t *iotdb_put_tablets(uint8_t *frame, const struct iotdb_call *call)
{
    const struct iotdb_form *form = call->form;
    const struct batch *batch = call->batch;
    const uint32_t count = batch->slice_count;
    const struct slice *slices = batch->slices;
    uint8_t *out = begin(frame, "insertTablets", call);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 2), THRIFT_STRING, count);
    for (uint32_t i = 0; i < count; i++)
        out = iotdb_put_device(out, form, slices[i].table);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 3), THRIFT_LIST, count);
    for (uint32_t i = 0; i < count; i++)
        out = put_made(out, form->names, form->names_length);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 4), THRIFT_STRING, count);
    for (uint32_t i = 0; i < count; i++)
        out = iotdb_put_values(out, form, batch, &slices[i]);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 5), THRIFT_STRING, count);
    for (uint32_t i = 0; i < count; i++)
        out = iotdb_put_times(out, batch, &slices[i]);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 6), THRIFT_LIST, count);
    for (uint32_t i = 0; i < count; i++)
        out = put_made(out, form->types, form->types_length);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 7), THRIFT_I32, count);
    for (uint32_t i = 0; i < count; i++)
        out = put_u32(out, slices[i].rows);
    return end(frame, put_aligned(out, 8, form));
}

uint8_t *iotdb_put_records(uint8_t *frame, const struct iotdb_call *call)
{
    const struct iotdb_form *form = call->form;
    const struct batch *batch = call->batch;
    const struct slice *last = batch->slices + batch->slice_count;
    uint8_t *out = begin(frame, "insertRecords", call);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 2), THRIFT_STRING, batch->rows);
    for (const struct slice *slice = batch->slices; slice < last; slice++)
        for (uint32_t i = 0; i < slice->rows; i++)
            out = iotdb_put_device(out, form, slice->table);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 3), THRIFT_LIST, batch->rows);
    for (uint32_t row = 0; row < batch->rows; row++)
        out = iotdb_put_record_names(out, form, batch, row);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 4), THRIFT_STRING, batch->rows);
    for (uint32_t row = 0; row < batch->rows; row++)
        out = iotdb_put_record(out, form, batch, row);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 5), THRIFT_I64, batch->rows);
    for (uint32_t row = 0; row < batch->rows; row++)
        out = put_u64(out, (uint64_t)batch->times[row]);
    return end(frame, put_aligned(out, 6, form));
}

uint8_t *iotdb_put_devices(uint8_t *frame, const struct iotdb_call *call, uint32_t first,
                           uint32_t count)
{
    uint8_t *out = begin(frame, "createTimeseriesUsingSchemaTemplate", call);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 2), THRIFT_STRING, count);
    for (uint32_t table = first; table < first + count; table++)
        out = iotdb_put_device(out, call->form, table);
    return end(frame, out);
}

uint8_t *iotdb_put_statement(uint8_t *frame, const struct iotdb_call *call,
                             const struct iotdb_statement *statement)
{
    uint8_t *out = begin(frame, "executeStatement", call);
    out = thrift_put_bytes(thrift_put_field(out, THRIFT_STRING, 2), statement->text,
                           strlen(statement->text));
    out = put_u64(thrift_put_field(out, THRIFT_I64, 3), (uint64_t)statement->id);
    out = put_u32(thrift_put_field(out, THRIFT_I32, 4), statement->rows_max);
    out = put_u64(thrift_put_field(out, THRIFT_I64, 5), (uint64_t)statement->within_ms);
    return end(frame, out);
}

uint8_t *iotdb_put_fetch(uint8_t *frame, const struct iotdb_call *call,
                         const struct iotdb_statement *statement, int64_t query)
{
    uint8_t *out = begin(frame, "fetchResults", call);
    out = thrift_put_bytes(thrift_put_field(out, THRIFT_STRING, 2), statement->text,
                           strlen(statement->text));
    out = put_u32(thrift_put_field(out, THRIFT_I32, 3), statement->rows_max);
    out = put_u64(thrift_put_field(out, THRIFT_I64, 4), (uint64_t)query);
    out = thrift_put8(thrift_put_field(out, THRIFT_BOOL, 5), true);
    out = put_u64(thrift_put_field(out, THRIFT_I64, 6), (uint64_t)statement->within_ms);
    out = put_u64(thrift_put_field(out, THRIFT_I64, 7), (uint64_t)statement->id);
    return end(frame, out);
}
