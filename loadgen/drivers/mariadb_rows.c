/* Rows for MariaDB. `load-data`: encoded as the library takes the text. `insert`: arrays of the
 * batch are bound; devices, texts and NULLs get their own. A request is acknowledged by success, at
 * least as many rows as it got, and no warning, which a changed value is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cells.h"
#include "mariadb.h"

enum { ATTRIBUTE_ARRAY_SIZE = 201, FIXED = 2, TEXT_SPACE = 4, DROPPED_BYTES = 4096 };

static const char replace_rows[] = "REPLACE";

static uint64_t text_bytes(const struct schema *schema)
{
    uint64_t bytes = 2 * NUMBER_BYTES;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        bytes += TEXT_SPACE;
        bytes += type_is_text(column->type) ? 2 * (uint64_t)column->length : NUMBER_BYTES;
    }
    return bytes;
}

static size_t put_names(const struct driver *d, char *out, size_t size)
{
    const struct spec *spec = d->setup->spec;
    const struct schema *schema = d->setup->schema;
    const uint32_t first = (uint32_t)spec->partial_from;
    const uint32_t end = first + spec_column_count(spec, schema->column_count);
    size_t used = (size_t)snprintf(out, size, "(device_id, time");
    for (uint32_t i = first; i < end && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, ", `%s`", schema->columns[i].name);
    return used + (size_t)snprintf(out + used, size > used ? size - used : 0, ")");
}

enum outcome maria_open_rows(struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    const size_t size = 256 + schema->column_count * (NAME_MAX_BYTES + 8);
    size_t used = 0;
    d->row_bytes = text_bytes(schema);
    d->write = malloc(size);
    if (!d->write)
        return fault_no_memory(fault);
    if (d->method == METHOD_LOAD_DATA) {
        used = (size_t)snprintf(
            d->write, size,
            "LOAD DATA LOCAL INFILE 'rows' %s INTO TABLE `%.100s` CHARACTER SET binary ",
            replace_rows, d->table);
        put_names(d, d->write + used, size - used);
        return OUTCOME_OK;
    }
    used = (size_t)snprintf(d->write, size, "%s INTO `%.100s` ", replace_rows, d->table);
    used += put_names(d, d->write + used, size - used);
    used += (size_t)snprintf(d->write + used, size - used, " VALUES (?, ?");
    for (uint32_t i = spec_column_count(d->setup->spec, schema->column_count); i > 0; i--)
        used += (size_t)snprintf(d->write + used, size - used, ", ?");
    snprintf(d->write + used, size - used, ")");
    return OUTCOME_OK;
}

/* `load-data` */

static char *put_escaped(char *out, const uint8_t *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        const char byte = (char)text[i];
        if (byte == '\\' || byte == '\t' || byte == '\n' || byte == '\0')
            *out++ = '\\';
        *out++ = byte == '\t' ? 't' : byte == '\n' ? 'n' : byte == '\0' ? '0' : byte;
    }
    return out;
}

static char *put_cell(char *out, const struct column *column, const struct column_data *data,
                      uint32_t row)
{
    if (data->nulls && data->nulls[row]) {
        memcpy(out, "\\N", 2);
        return out + 2;
    }
    if (type_is_text(column->type))
        return put_escaped(out, (const uint8_t *)data->values + (size_t)row * column->width,
                           (uint32_t)data->lengths[row]);
    return cell_put_number(out, column->type, data->values, row);
}

static void next_row(struct connection *c)
{
    const struct batch *b = c->batch;
    while (c->row >= c->slice->offset + c->slice->rows)
        c->slice++;
    char *out = put_unsigned(c->text, c->slice->table + 1u);
    *out++ = '\t';
    out = put_whole(out, b->times[c->row]);
    for (uint32_t i = b->first_column; i < b->first_column + b->column_count; i++) {
        *out++ = '\t';
        out = put_cell(out, &b->schema->columns[i], &b->columns[i], c->row);
    }
    *out++ = '\n';
    c->text_used = (uint32_t)(out - c->text);
    c->text_at = 0;
    c->row++;
}

static int begin_file(void **file, const char *name, void *context)
{
    (void)name;
    *file = context;
    return 0;
}

static int read_file(void *file, char *out, unsigned size)
{
    struct connection *c = file;
    unsigned used = 0;
    while (used < size) {
        if (c->text_at == c->text_used) {
            if (c->row == c->batch->rows)
                break;
            next_row(c);
        }
        const uint32_t left = c->text_used - c->text_at;
        const uint32_t taken = left < size - used ? left : size - used;
        memcpy(out + used, c->text + c->text_at, taken);
        c->text_at += taken;
        used += taken;
    }
    return (int)used;
}

static void end_file(void *file)
{
    (void)file;
}

static int no_error(void *file, char *words, unsigned size)
{
    (void)file;
    snprintf(words, size, "rows cannot be read");
    return 0;
}

void maria_take_infile(struct connection *c)
{
    c->driver->library.set_infile(c->mysql, begin_file, read_file, end_file, no_error, c);
}

static enum outcome warned(struct connection *c, uint64_t affected, const struct batch *batch,
                           uint64_t *rows_acked, struct fault *fault)
{
    const unsigned warnings = c->driver->library.warnings(c->mysql);
    if (affected >= batch->rows && !warnings) {
        *rows_acked = batch->rows;
        return OUTCOME_OK;
    }
    return fault_set(fault, FAULT_SERVER, "WARNINGS", "%u warnings, %llu of %u rows stored",
                     warnings, (unsigned long long)affected, (unsigned)batch->rows);
}

static enum outcome drop_text(struct connection *c, uint64_t *rows_acked)
{
    char dropped[DROPPED_BYTES];
    while (read_file(c, dropped, sizeof dropped) > 0)
        continue;
    *rows_acked = c->batch->rows;
    return OUTCOME_OK;
}

static enum outcome send_text(struct connection *c, const struct batch *batch, uint64_t *rows_acked,
                              struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    c->batch = batch;
    c->slice = batch->slices;
    c->row = c->text_used = c->text_at = 0;
    if (c->driver->setup->is_sending_stubbed)
        return drop_text(c, rows_acked);
    if (maria_query(c, c->driver->write, strlen(c->driver->write)))
        return maria_fault(c, fault);
    return warned(c, m->affected(c->mysql), batch, rows_acked, fault);
}

/* `insert` */

static const int bound_types[TYPE_COUNT] = {
    [TYPE_BOOL] = MARIA_TINY,        [TYPE_TINYINT] = MARIA_TINY,
    [TYPE_UTINYINT] = MARIA_TINY,    [TYPE_SMALLINT] = MARIA_SHORT,
    [TYPE_USMALLINT] = MARIA_SHORT,  [TYPE_INT] = MARIA_LONG,
    [TYPE_UINT] = MARIA_LONG,        [TYPE_FLOAT] = MARIA_FLOAT,
    [TYPE_DOUBLE] = MARIA_DOUBLE,    [TYPE_BIGINT] = MARIA_LONGLONG,
    [TYPE_UBIGINT] = MARIA_LONGLONG, [TYPE_TIMESTAMP] = MARIA_LONGLONG,
    [TYPE_BINARY] = MARIA_STRING,    [TYPE_NCHAR] = MARIA_STRING,
    [TYPE_VARBINARY] = MARIA_STRING, [TYPE_GEOMETRY] = MARIA_STRING};

static bool is_unsigned(enum type type)
{
    return type == TYPE_UTINYINT || type == TYPE_USMALLINT || type == TYPE_UINT ||
           type == TYPE_UBIGINT;
}

static void free_arrays(struct maria_arrays *a, uint32_t columns)
{
    for (uint32_t i = 0; i < columns; i++) {
        if (a->texts)
            free(a->texts[i]);
        if (a->lengths)
            free(a->lengths[i]);
        if (a->nulls)
            free(a->nulls[i]);
    }
    free(a->devices);
    free(a->binds);
    free((void *)a->texts);
    free((void *)a->lengths);
    free((void *)a->nulls);
    *a = (struct maria_arrays){0};
}

void maria_free_rows(struct connection *c)
{
    if (c->insert)
        c->driver->library.stmt_close(c->insert);
    free_arrays(&c->arrays, c->driver->setup->schema->column_count);
}

static bool has_room(struct connection *c, const struct batch *b)
{
    struct maria_arrays *a = &c->arrays;
    const uint32_t columns = b->schema->column_count;
    if (a->rows >= b->rows)
        return true;
    free_arrays(a, columns);
    a->rows = b->rows;
    a->devices = calloc(b->rows, sizeof *a->devices);
    a->binds = calloc(FIXED + columns, sizeof *a->binds);
    a->texts = (char ***)calloc(columns, sizeof *a->texts);
    a->lengths = (unsigned long **)calloc(columns, sizeof *a->lengths);
    a->nulls = (char **)calloc(columns, sizeof *a->nulls);
    bool ok = a->devices && a->binds && a->texts && a->lengths && a->nulls;
    for (uint32_t i = 0; ok && i < columns; i++) {
        if (type_is_text(b->schema->columns[i].type)) {
            a->texts[i] = (char **)calloc(b->rows, sizeof **a->texts);
            a->lengths[i] = calloc(b->rows, sizeof **a->lengths);
            ok = a->texts[i] && a->lengths[i];
        }
        a->nulls[i] = calloc(b->rows, 1);
        ok = ok && a->nulls[i];
    }
    if (!ok)
        free_arrays(a, columns);
    return ok;
}

static void bind_column(struct maria_arrays *a, const struct batch *b, uint32_t i,
                        struct maria_bind *bind)
{
    const struct column *column = &b->schema->columns[i];
    const struct column_data *data = &b->columns[i];
    bind->type = bound_types[column->type];
    bind->is_unsigned = (char)is_unsigned(column->type);
    bind->buffer = data->values;
    if (data->nulls) {
        memcpy(a->nulls[i], data->nulls, b->rows);
        bind->indicator = a->nulls[i];
    }
    if (!a->texts[i])
        return;
    for (uint32_t row = 0; row < b->rows; row++) {
        a->texts[i][row] = (char *)data->values + (size_t)row * column->width;
        a->lengths[i][row] = (unsigned long)data->lengths[row];
    }
    bind->buffer = (void *)a->texts[i];
    bind->length = a->lengths[i];
}

static void bind_batch(struct maria_arrays *a, const struct batch *b)
{
    for (const struct slice *s = b->slices; s < b->slices + b->slice_count; s++)
        for (uint32_t row = s->offset; row < s->offset + s->rows; row++)
            a->devices[row] = s->table + 1u;
    memset(a->binds, 0, (FIXED + b->column_count) * sizeof *a->binds);
    a->binds[0] = (struct maria_bind){.type = MARIA_LONG, .is_unsigned = 1, .buffer = a->devices};
    a->binds[1] = (struct maria_bind){.type = MARIA_LONGLONG, .buffer = b->times};
    for (uint32_t i = 0; i < b->column_count; i++)
        bind_column(a, b, b->first_column + i, &a->binds[FIXED + i]);
}

static enum outcome send_arrays(struct connection *c, const struct batch *batch,
                                uint64_t *rows_acked, struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    const unsigned rows = batch->rows;
    if (!c->insert) {
        c->insert = m->stmt_init(c->mysql);
        if (!c->insert)
            return fault_no_memory(fault);
        if (maria_stmt_prepare(c, c->insert, c->driver->write, strlen(c->driver->write)))
            return maria_stmt_fault(c, c->insert, fault);
    }
    if (!has_room(c, batch))
        return fault_no_memory(fault);
    bind_batch(&c->arrays, batch);
    if (m->stmt_set(c->insert, ATTRIBUTE_ARRAY_SIZE, &rows) ||
        m->stmt_bind(c->insert, c->arrays.binds) || maria_stmt_execute(c, c->insert))
        return maria_stmt_fault(c, c->insert, fault);
    return warned(c, m->stmt_affected(c->insert), batch, rows_acked, fault);
}

enum outcome maria_send(struct connection *c, const struct batch *batch, uint64_t deadline_ns,
                        uint64_t *rows_acked, struct fault *fault)
{
    maria_begin(c, deadline_ns);
    return c->driver->method == METHOD_LOAD_DATA ? send_text(c, batch, rows_acked, fault)
                                                 : send_arrays(c, batch, rows_acked, fault);
}
