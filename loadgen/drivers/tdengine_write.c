/* Rows to TDengine through libtaos. */
#include "tdengine.h"

#include <stdio.h>
#include <string.h>

#include "../tags.h"
#include "ahead.h"
#include "kept_time.h"
#include "numbers.h"

/* `stmt`: columns are bound without a copy. A failed statement is prepared again. */

/* With the tags of a table if an insertion creates it. */
static int prepare_statement(struct connection *c, uint32_t table)
{
    const struct driver *d = c->driver;
    const struct schema *schema = d->setup->schema;
    const bool is_partial = d->column_count < schema->column_count;
    char *out = c->text;
    out += sprintf(out, "INSERT INTO ?");
    if (d->creates)
        out = tdengine_put_using(d, table, out);
    if (is_partial) {
        out += sprintf(out, " (ts");
        for (uint32_t i = 0; i < d->column_count; i++)
            out += sprintf(out, ",`%s`", schema->columns[d->first_column + i].name);
        out += sprintf(out, ")");
    }
    out += sprintf(out, " VALUES(?");
    for (uint32_t i = 0; i < d->column_count; i++)
        out += sprintf(out, ",?");
    out += sprintf(out, ")");
    return d->taos.stmt_prepare(c->stmt, c->text, (unsigned long)(out - c->text));
}

static int bind_rows(struct connection *c, const struct batch *batch, uint32_t offset,
                     uint32_t rows)
{
    const struct driver *d = c->driver;
    c->binds[0] = (struct taos_bind){.type = tdengine_type(TYPE_TIMESTAMP),
                                     .buffer = batch->times + offset,
                                     .buffer_length = sizeof *batch->times,
                                     .rows = (int)rows};
    for (uint32_t i = 0; i < d->column_count; i++) {
        const struct column *column = &d->setup->schema->columns[d->first_column + i];
        const struct column_data *data = &batch->columns[d->first_column + i];
        c->binds[i + 1] =
            (struct taos_bind){.type = tdengine_type(column->type),
                               .buffer = (char *)data->values + (size_t)offset * column->width,
                               .buffer_length = column->width,
                               .length = data->lengths ? data->lengths + offset : NULL,
                               .is_null = data->nulls ? (char *)data->nulls + offset : NULL,
                               .rows = (int)rows};
    }
    int code = d->taos.stmt_bind(c->stmt, c->binds);
    return code ? code : d->taos.stmt_add(c->stmt);
}

static int bind_slice(struct connection *c, const struct batch *batch, const struct slice *slice)
{
    char name[TABLE_NAME_MAX];
    tdengine_table_name(c->driver, slice->table, name);
    for (uint32_t done = 0; done < slice->rows;) {
        const uint32_t left = slice->rows - done;
        const uint32_t rows = left < STMT_ROWS_MAX ? left : STMT_ROWS_MAX;
        int code = c->driver->taos.stmt_table(c->stmt, name);
        if (!code)
            code = bind_rows(c, batch, slice->offset + done, rows);
        if (code)
            return code;
        done += rows;
    }
    return 0;
}

static int make_ready(struct connection *c, uint32_t table)
{
    const struct libtaos *t = &c->driver->taos;
    int code = 0;
    if (c->is_prepared && (!c->driver->creates || c->prepared_table == table))
        return 0;
    if (!c->stmt)
        c->stmt = t->stmt_init(c->taos);
    code = c->stmt ? prepare_statement(c, table) : t->error(NULL);
    c->is_prepared = code == 0;
    c->prepared_table = table;
    return code;
}

enum outcome tdengine_stmt_send(struct connection *c, const struct batch *batch,
                                uint64_t *rows_acked, struct fault *fault)
{
    const struct libtaos *t = &c->driver->taos;
    int code = make_ready(c, batch->slices[0].table);
    for (uint32_t i = 0; i < batch->slice_count && !code; i++)
        code = bind_slice(c, batch, &batch->slices[i]);
    if (!code)
        code = t->stmt_execute(c->stmt);
    if (code) {
        c->is_prepared = false;
        return tdengine_fault(code, c->stmt ? t->stmt_error(c->stmt) : t->error_text(NULL), fault);
    }
    *rows_acked = (uint64_t)t->stmt_affected(c->stmt);
    return OUTCOME_OK;
}

/* `sql`: INSERT text, in several statements if needed; all acknowledge it. */

enum { TIME_BYTES = 24 };
enum { PROTOCOL_LINE = 1, PRECISION_OF_MS = 4, HEAD_BYTES = 4096 };

static uint32_t row_bytes_max(const struct driver *d)
{
    uint32_t bytes = TIME_BYTES + 4;
    for (uint32_t i = 0; i < d->column_count; i++)
        bytes += tdengine_value_bytes(&d->setup->schema->columns[d->first_column + i]) + 1;
    return bytes;
}

/* " d7 VALUES ", or " d7 (ts,`a`) VALUES " for part of the columns; before it the tags if an
 * insertion creates the table. */
static char *put_insert_head(const struct driver *d, uint32_t table, char *out)
{
    *out++ = ' ';
    out += tdengine_table_name(d, table, out);
    if (d->creates)
        out = tdengine_put_using(d, table, out);
    if (d->column_count < d->setup->schema->column_count) {
        out += sprintf(out, " (ts");
        for (uint32_t i = 0; i < d->column_count; i++)
            out += sprintf(out, ",`%s`", d->setup->schema->columns[d->first_column + i].name);
        *out++ = ')';
    }
    memcpy(out, " VALUES ", 8);
    return out + 8;
}

struct writer { /* shared by the rows of one request */
    struct kept_time time;
    struct ahead ahead;
};

static char *put_rows(const struct driver *d, const struct batch *batch, uint32_t first, uint32_t n,
                      struct writer *w, char *out)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    const struct column_data *data = batch->columns + d->first_column;
    const struct ahead *const ahead = &w->ahead;
    const uint32_t count = d->column_count, count_ahead = ahead->count;
    for (uint32_t row = first; row < first + n; row++) {
        const uint32_t *number = &ahead->numbers[0][row - ahead->first];
        *out++ = '(';
        out = put_time(&w->time, out, batch->times[row]);
        for (uint32_t c = 0; c < count_ahead; c++, number += AHEAD_ROWS) {
            *out++ = ',';
            out = ahead->forms[c] ? put_ahead(out, ahead->forms[c], *number)
                                  : tdengine_put_value(out, &columns[c], &data[c], row);
        }
        for (uint32_t c = count_ahead; c < count; c++) {
            *out++ = ',';
            out = tdengine_put_value(out, &columns[c], &data[c], row);
        }
        *out++ = ')';
    }
    return out;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static enum outcome flush_text(struct connection *c, char *end, uint64_t *rows_acked,
                               struct fault *fault)
{
    *end = '\0';
    if (c->driver->setup->is_sending_stubbed)
        return OUTCOME_OK;
    return tdengine_run(c, c->text, rows_acked, fault);
}

enum outcome tdengine_sql_send(struct connection *c, const struct batch *batch,
                               uint64_t *rows_acked, struct fault *fault)
{
    static const char insert[] = "INSERT INTO";
    const struct driver *d = c->driver;
    const uint32_t most = row_bytes_max(d), head = 64 * (d->column_count + 2) + TABLE_NAME_MAX +
                                                   (d->creates ? tdengine_using_bytes(d) : 0);
    char *const first = c->text + sizeof insert - 1, *const last = c->text + SQL_BYTES_MAX;
    char *out = first;
    enum outcome outcome = OUTCOME_OK;
    struct writer w;
    w.time.length = w.ahead.end = 0;
    *rows_acked = 0;
    memcpy(c->text, insert, sizeof insert - 1);
    for (uint32_t i = 0; i < batch->slice_count; i++) {
        const struct slice *slice = &batch->slices[i];
        bool needs_head = true;
        for (uint32_t row = 0, n; row < slice->rows; row += n) {
            if (out + most + head > last) {
                if ((outcome = flush_text(c, out, rows_acked, fault)) != OUTCOME_OK)
                    return outcome;
                out = first;
                needs_head = true;
            }
            if (needs_head)
                out = put_insert_head(d, slice->table, out);
            needs_head = false;
            const uint32_t at = slice->offset + row;
            if (at == w.ahead.end)
                read_ahead(&w.ahead, batch);
            n = least(slice->rows - row, least(w.ahead.end - at, (uint32_t)(last - out) / most));
            out = put_rows(d, batch, at, n, &w, out);
        }
    }
    if (out > first)
        outcome = flush_text(c, out, rows_acked, fault);
    if (d->setup->is_sending_stubbed)
        *rows_acked = batch->rows;
    return outcome;
}

/* Schemaless: InfluxDB lines, OpenTSDB telnet lines and JSON. A tag holds the table's name, so that
 * subtables have the same names. Telnet and JSON take one column. A row of nothing but NULLs keeps
 * its first value. */

static const char *const suffixes[TYPE_COUNT] = {
    [TYPE_TINYINT] = "i8", [TYPE_SMALLINT] = "i16",  [TYPE_INT] = "i32",
    [TYPE_BIGINT] = "i64", [TYPE_UTINYINT] = "u8",   [TYPE_USMALLINT] = "u16",
    [TYPE_UINT] = "u32",   [TYPE_UBIGINT] = "u64",   [TYPE_FLOAT] = "f32",
    [TYPE_DOUBLE] = "f64", [TYPE_TIMESTAMP] = "i64",
};

/* Without quotes. Lines escape a space or comma by a backslash; others get an underscore. */
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

static char *put_number(char *out, const struct column *column, const struct column_data *data,
                        uint32_t row)
{
    if (column->type == TYPE_BOOL)
        return put_word(out, ((const int8_t *)data->values)[row] ? "true" : "false");
    return put_word(tdengine_put_value(out, column, data, row), suffixes[column->type]);
}

/* With the suffix of its type; strings in double quotes, NCHAR with an L. */
static char *put_field(char *out, const struct column *column, const struct column_data *data,
                       uint32_t row)
{
    out = put_word(out, column->name);
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
    out = put_word(out, d->table);
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
    out = put_whole(out, batch->times[row]);
    *out++ = '\n';
    return out;
}

/* As in a line, without the name. */
static char *put_telnet(const struct driver *d, const struct column *column,
                        const struct column_data *data, uint32_t row, int64_t time, char *out)
{
    out = put_word(out, d->table);
    *out++ = ' ';
    out = put_whole(out, time);
    *out++ = ' ';
    return put_number(out, column, data, row);
}

/* With its type beside it; a time in ms has none. */
static char *put_json(const struct driver *d, const struct column *column,
                      const struct column_data *data, uint32_t row, int64_t time, char *out)
{
    static const char *const units[] = {"ms", "us", "ns"};
    const char *type = column->type == TYPE_BOOL    ? "bool"
                       : column->type == TYPE_NCHAR ? "nchar"
                       : suffixes[column->type]     ? suffixes[column->type]
                                                    : "binary";
    out += sprintf(out, "{\"metric\":\"%s\",\"timestamp\":{\"value\":", d->table);
    out = put_whole(out, time);
    out +=
        sprintf(out, ",\"type\":\"%s\"},\"value\":{\"value\":", units[d->setup->spec->precision]);
    char *const first = out;
    if (column->type == TYPE_BOOL)
        out = put_word(out, ((const int8_t *)data->values)[row] ? "true" : "false");
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
    return put_word(out + tags_length, is_json ? "}}," : "\n");
}

/* Telnet separates words by spaces, so it cannot write text. */
bool tdengine_schemaless_has(enum method method, const struct column *column)
{
    const bool is_unsigned = column->type >= TYPE_UTINYINT && column->type <= TYPE_UBIGINT;
    if (method == METHOD_TELNET)
        return !type_is_text(column->type);
    if (method == METHOD_JSON)
        return !is_unsigned && column->type != TYPE_VARBINARY && column->type != TYPE_GEOMETRY;
    return true;
}

static enum outcome flush_lines(struct connection *c, char *end, uint64_t *rows_acked,
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
    char *const first = d->method == METHOD_JSON ? put_word(c->text, "[") : c->text;
    char *out = first;
    *rows_acked = 0;
    for (uint32_t i = 0; i < batch->slice_count; i++) {
        const struct slice *slice = &batch->slices[i];
        const uint32_t length = put_tags(d, slice->table, tags);
        const uint32_t most = line_bytes_max(d, length);
        for (uint32_t row = slice->offset; row < slice->offset + slice->rows; row++) {
            if (out + most > c->text + SQL_BYTES_MAX) {
                const enum outcome outcome = flush_lines(c, out, rows_acked, fault);
                if (outcome != OUTCOME_OK)
                    return outcome;
                out = first;
            }
            out = d->method == METHOD_LINE ? put_line(d, batch, row, tags, length, out)
                                           : put_point(d, batch, row, tags, length, out);
        }
    }
    return out > first ? flush_lines(c, out, rows_acked, fault) : OUTCOME_OK;
}
