/* The schemaless methods: InfluxDB lines, OpenTSDB telnet lines and OpenTSDB JSON. A tag holds
 * the table's name and libtaos is told to name the child tables after it, so that tables are the
 * same as with every other method and no two can fall together. Telnet and JSON carry one value a
 * line, so they take exactly one column. A NULL is left out of its line; a row of nothing but
 * NULLs keeps its first value, because a line without a value is not a row. */
#include <stdio.h>
#include <string.h>

#include "../tags.h"
#include "numbers.h"
#include "tdengine_parts.h"

enum { PROTOCOL_LINE = 1, PRECISION_OF_MS = 4, HEAD_BYTES = 4096, TIME_BYTES = 24 };

static const char *const suffixes[TYPE_COUNT] = {
    [TYPE_TINYINT] = "i8", [TYPE_SMALLINT] = "i16",  [TYPE_INT] = "i32",
    [TYPE_BIGINT] = "i64", [TYPE_UTINYINT] = "u8",   [TYPE_USMALLINT] = "u16",
    [TYPE_UINT] = "u32",   [TYPE_UBIGINT] = "u64",   [TYPE_FLOAT] = "f32",
    [TYPE_DOUBLE] = "f64", [TYPE_TIMESTAMP] = "i64",
};

/* A tag's value without quotes; in lines a space or a comma takes a backslash, in the others,
 * which have no escape, an underscore takes its place. */
static uint32_t put_tag_value(const struct driver *d, uint32_t tag, uint32_t table, char *out)
{
    char literal[TAG_TEXT_MAX];
    const uint32_t length = tag_literal(d->setup->spec, d->setup->schema, tag, table, literal);
    uint32_t used = 0;
    for (uint32_t i = 0; i < length; i++) {
        const bool is_special = literal[i] == ' ' || literal[i] == ',' || literal[i] == '=';
        if (literal[i] == '\'' || literal[i] == '"')
            continue;
        if (is_special && d->method == METHOD_LINE)
            out[used++] = '\\';
        out[used++] = is_special && d->method != METHOD_LINE ? '_' : literal[i];
    }
    return used;
}

/* The tags of a table, as they stand in every line of it. */
static uint32_t put_tags(const struct driver *d, uint32_t table, char *out)
{
    const struct schema *schema = d->setup->schema;
    const bool is_json = d->method == METHOD_JSON;
    char name[TABLE_NAME_MAX], value[2 * TAG_TEXT_MAX];
    tdengine_table_name(d, table, name);
    uint32_t used = (uint32_t)snprintf(out, HEAD_BYTES, is_json ? "\"%s\":\"%s\"" : "%s=%s",
                                       TDENGINE_NAME_TAG, name);
    for (uint32_t i = 0; i < schema->tag_count && used < HEAD_BYTES / 2; i++) {
        value[put_tag_value(d, i, table, value)] = '\0';
        used += (uint32_t)snprintf(out + used, HEAD_BYTES - used,
                                   is_json                    ? ",\"%s\":\"%s\""
                                   : d->method == METHOD_LINE ? ",%s=%s"
                                                              : " %s=%s",
                                   schema->tags[i].name, value);
    }
    return used < HEAD_BYTES ? used : 0;
}

static char *put_text(char *out, const char *text)
{
    const size_t length = strlen(text);
    memcpy(out, text, length);
    return out + length;
}

static char *put_number(char *out, const struct column *column, const struct column_data *data,
                        uint32_t row)
{
    if (column->type == TYPE_BOOL)
        return put_text(out, ((const int8_t *)data->values)[row] ? "true" : "false");
    return put_text(tdengine_put_value(out, column, data, row), suffixes[column->type]);
}

/* name=value with the suffix of its type; strings in double quotes, NCHAR with an L. */
static char *put_field(char *out, const struct column *column, const struct column_data *data,
                       uint32_t row)
{
    out = put_text(out, column->name);
    *out++ = '=';
    if (!type_is_text(column->type))
        return put_number(out, column, data, row);
    if (column->type != TYPE_BINARY)
        *out++ = column->type == TYPE_NCHAR ? 'L' : column->type == TYPE_GEOMETRY ? 'G' : 'B';
    char *const first = out;
    out = tdengine_put_value(out, column, data, row);
    *first = '"';
    out[-1] = '"';
    return out;
}

static char *put_line(const struct driver *d, const struct batch *batch, uint32_t row,
                      const char *tags, uint32_t tags_length, char *out)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    const struct column_data *data = batch->columns + d->first_column;
    out = put_text(out, d->table);
    *out++ = ',';
    memcpy(out, tags, tags_length);
    out += tags_length;
    char separator = ' ';
    for (uint32_t i = 0; i < d->column_count; i++) {
        if (data[i].nulls && data[i].nulls[row])
            continue;
        *out++ = separator;
        out = put_field(out, &columns[i], &data[i], row);
        separator = ',';
    }
    if (separator == ' ') {
        const struct column_data first = {data->values, data->lengths, NULL};
        *out++ = separator;
        out = put_field(out, columns, &first, row);
    }
    *out++ = ' ';
    out = numbers_put_whole(out, batch->times[row]);
    *out++ = '\n';
    return out;
}

/* A metric's value by telnet: as in a line, without the name. */
static char *put_telnet(const struct driver *d, const struct column *column,
                        const struct column_data *data, uint32_t row, int64_t time, char *out)
{
    out = put_text(out, d->table);
    *out++ = ' ';
    out = numbers_put_whole(out, time);
    *out++ = ' ';
    return put_number(out, column, data, row);
}

/* A metric's value by JSON, with its type beside it; the time in ms is plain. */
static char *put_json(const struct driver *d, const struct column *column,
                      const struct column_data *data, uint32_t row, int64_t time, char *out)
{
    static const char *const units[] = {"ms", "us", "ns"};
    const char *type = column->type == TYPE_BOOL    ? "bool"
                       : column->type == TYPE_NCHAR ? "nchar"
                       : suffixes[column->type]     ? suffixes[column->type]
                                                    : "binary";
    out += sprintf(out, "{\"metric\":\"%s\",\"timestamp\":{\"value\":", d->table);
    out = numbers_put_whole(out, time);
    out +=
        sprintf(out, ",\"type\":\"%s\"},\"value\":{\"value\":", units[d->setup->spec->precision]);
    char *const first = out;
    if (column->type == TYPE_BOOL)
        out = put_text(out, ((const int8_t *)data->values)[row] ? "true" : "false");
    else
        out = tdengine_put_value(out, column, data, row);
    if (type_is_text(column->type))
        *first = out[-1] = '"';
    out += sprintf(out, ",\"type\":\"%s\"},\"tags\":{", type);
    return out;
}

static char *put_point(const struct driver *d, const struct batch *batch, uint32_t row,
                       const char *tags, uint32_t tags_length, char *out)
{
    const struct column *column = d->setup->schema->columns + d->first_column;
    const struct column_data *data = batch->columns + d->first_column;
    const bool is_json = d->method == METHOD_JSON;
    out = (is_json ? put_json : put_telnet)(d, column, data, row, batch->times[row], out);
    if (!is_json)
        *out++ = ' ';
    memcpy(out, tags, tags_length);
    return put_text(out + tags_length, is_json ? "}}," : "\n");
}

/* What the protocols have words for. Telnet parts words by spaces, so it has none for text. */
bool tdengine_schemaless_has(enum method method, const struct column *column)
{
    const bool is_unsigned = column->type >= TYPE_UTINYINT && column->type <= TYPE_UBIGINT;
    if (method == METHOD_TELNET)
        return !type_is_text(column->type);
    if (method == METHOD_JSON)
        return !is_unsigned && column->type != TYPE_VARBINARY && column->type != TYPE_GEOMETRY;
    return true;
}

static enum outcome flush(struct connection *c, char *end, uint64_t *rows_acked,
                          struct fault *fault)
{
    const struct driver *d = c->driver;
    const struct libtaos *t = &d->taos;
    int32_t lines = 0;
    if (d->method == METHOD_JSON)
        end[-1] = ']';
    *end = '\0';
    TAOS_RES *result = t->schemaless(c->taos, c->text, (int)(end - c->text), &lines,
                                     PROTOCOL_LINE + (int)(d->method - METHOD_LINE),
                                     PRECISION_OF_MS + (int)d->setup->spec->precision);
    const int code = t->error(result);
    enum outcome outcome = OUTCOME_OK;
    if (code != 0)
        outcome = tdengine_fault(code, t->error_text(result), fault);
    else
        *rows_acked += (uint64_t)t->affected(result);
    t->free_result(result);
    return outcome;
}

static uint32_t line_bytes_max(const struct driver *d, uint32_t tags_length)
{
    uint32_t bytes = 256 + TIME_BYTES + tags_length;
    for (uint32_t i = 0; i < d->column_count; i++)
        bytes += tdengine_value_bytes(&d->setup->schema->columns[d->first_column + i]) + 72;
    return bytes;
}

enum outcome tdengine_schemaless_send(struct connection *c, const struct batch *batch,
                                      uint64_t *rows_acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    char tags[HEAD_BYTES];
    char *const first = d->method == METHOD_JSON ? put_text(c->text, "[") : c->text;
    char *out = first;
    *rows_acked = 0;
    for (uint32_t i = 0; i < batch->slice_count; i++) {
        const struct slice *slice = &batch->slices[i];
        const uint32_t length = put_tags(d, slice->table, tags);
        const uint32_t most = line_bytes_max(d, length);
        for (uint32_t row = slice->offset; row < slice->offset + slice->rows; row++) {
            if (out + most > c->text + SQL_BYTES_MAX) {
                const enum outcome outcome = flush(c, out, rows_acked, fault);
                if (outcome != OUTCOME_OK)
                    return outcome;
                out = first;
            }
            out = d->method == METHOD_LINE ? put_line(d, batch, row, tags, length, out)
                                           : put_point(d, batch, row, tags, length, out);
        }
    }
    return out > first ? flush(c, out, rows_acked, fault) : OUTCOME_OK;
}
