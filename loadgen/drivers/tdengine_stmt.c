/* The method `stmt`: columns are bound where they lie in the batch, without a copy. A failure
 * sticks to a statement until it is prepared again, so a failed one is, before the next send. */
#include <stdio.h>
#include <string.h>

#include "tdengine_parts.h"

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

/* The statement; with the tags of a table where an insertion makes it. */
static int prepare(struct connection *c, uint32_t table)
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

/* A statement that is ready for rows of the table, whatever happened to it before. */
static int make_ready(struct connection *c, uint32_t table)
{
    const struct libtaos *t = &c->driver->taos;
    int code = 0;
    if (c->is_prepared && (!c->driver->creates || c->prepared_table == table))
        return 0;
    if (!c->stmt)
        c->stmt = t->stmt_init(c->taos);
    code = c->stmt ? prepare(c, table) : t->error(NULL);
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
