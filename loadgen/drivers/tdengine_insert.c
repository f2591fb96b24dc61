/* The method `sql`: INSERT statements as text, as long as the server takes them; a request that
 * does not fit into one is sent in several, and is acknowledged when all of them are. */
#include <stdio.h>
#include <string.h>

#include "ahead.h"
#include "kept_time.h"
#include "tdengine_parts.h"

enum { TIME_BYTES = 24 };

static uint32_t row_bytes_max(const struct driver *d)
{
    uint32_t bytes = TIME_BYTES + 4;
    for (uint32_t i = 0; i < d->column_count; i++)
        bytes += tdengine_value_bytes(&d->setup->schema->columns[d->first_column + i]) + 1;
    return bytes;
}

/* " d7 VALUES ", with part of the columns " d7 (ts,`a`) VALUES "; with the tags before it where an
 * insertion makes its table */
static char *put_head(const struct driver *d, uint32_t table, char *out)
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

struct writer { /* what one request's rows share */
    struct kept_time time;
    struct ahead ahead;
};

/* n rows of those that are read ahead. */
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

static enum outcome flush(struct connection *c, char *end, uint64_t *rows_acked,
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
                if ((outcome = flush(c, out, rows_acked, fault)) != OUTCOME_OK)
                    return outcome;
                out = first;
                needs_head = true;
            }
            if (needs_head)
                out = put_head(d, slice->table, out);
            needs_head = false;
            const uint32_t at = slice->offset + row;
            if (at == w.ahead.end)
                read_ahead(&w.ahead, batch, least(AHEAD_ROWS, batch->rows - at));
            n = least(slice->rows - row, least(w.ahead.end - at, (uint32_t)(last - out) / most));
            out = put_rows(d, batch, at, n, &w, out);
        }
    }
    if (out > first)
        outcome = flush(c, out, rows_acked, fault);
    if (d->setup->is_sending_stubbed)
        *rows_acked = batch->rows;
    return outcome;
}
