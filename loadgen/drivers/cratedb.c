/* The driver of CrateDB: rows posted over HTTP to its endpoint /_sql, as JSON. A body is one
 * statement and its arguments:
 *     {"stmt":"INSERT INTO \"measurement\" (device_id, time, \"a\") SELECT * FROM UNNEST(...)",
 *      "args":[[7,7],[1500000000000,1500000000001],[1,2]]}
 * The table's own columns are device_id and time (ms since 1970). Its server has no transactions: a
 * statement may store a part of its rows and leave out the others, and answers with how many it
 * stored. A number that is not that of the rows is a fault. Queries are posted too, and name a
 * table by its number.
 * Methods: `unnest`, an array for each column; `bulk`, the values of each row as arguments of one
 * INSERT. Options: those of posts.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cells.h"
#include "json_text.h"
#include "posts.h"

enum { OWN_COLUMNS = 2, TIME_BYTES = 24, DEVICE_BYTES = 12, WORDS_BYTES = 256, LIST_BYTES = 3 };

struct statement { /* read-only once made */
    const struct schema *schema;
    bool is_bulk;
    char *head; /* the body up to the first argument */
    size_t head_bytes;
};

static const char *const type_names[TYPE_COUNT] = {
    [TYPE_BOOL] = "BOOLEAN",      [TYPE_TINYINT] = "SMALLINT",
    [TYPE_SMALLINT] = "SMALLINT", [TYPE_INT] = "INTEGER",
    [TYPE_BIGINT] = "BIGINT",     [TYPE_UTINYINT] = "SMALLINT",
    [TYPE_USMALLINT] = "INTEGER", [TYPE_UINT] = "BIGINT",
    [TYPE_FLOAT] = "REAL",        [TYPE_DOUBLE] = "DOUBLE PRECISION",
    [TYPE_TIMESTAMP] = "BIGINT",  [TYPE_BINARY] = "TEXT",
    [TYPE_NCHAR] = "TEXT",
};

static bool has_type(enum type type)
{
    return type_names[type] != NULL;
}

/* Each an array of its type, or a plain one. */
static char *put_parameters(char *out, const struct statement *s, uint32_t first, uint32_t count)
{
    for (uint32_t i = first; i < first + count; i++) {
        out = put_word(out, ", ?");
        if (!s->is_bulk)
            out = put_word(
                put_word(put_word(out, "::ARRAY("), type_names[s->schema->columns[i].type]), ")");
    }
    return out;
}

static char *put_head(char *out, const struct statement *s, const char *table, uint32_t first,
                      uint32_t count)
{
    out = put_word(put_word(out, "{\"stmt\":\"INSERT INTO \\\""), table);
    out = put_word(out, "\\\" (device_id, time");
    for (uint32_t i = first; i < first + count; i++) {
        out = put_word(put_word(out, ", \\\""), s->schema->columns[i].name);
        out = put_word(out, "\\\"");
    }
    out = put_word(out, s->is_bulk ? ") VALUES (?, ?"
                                   : ") (SELECT * FROM UNNEST(?::ARRAY(INTEGER), ?::ARRAY(BIGINT)");
    out = put_parameters(out, s, first, count);
    return put_word(out, s->is_bulk ? ")\",\"bulk_args\":[" : "))\",\"args\":[");
}

static bool init(void *encoder, const struct post_names *names)
{
    const struct schema *schema = names->schema;
    const uint32_t count = spec_column_count(names->spec, schema->column_count);
    struct statement *s = encoder;
    *s = (struct statement){.schema = schema, .is_bulk = names->variant != NULL};
    const size_t most = 2 * WORDS_BYTES + strlen(names->measurement) +
                        (size_t)count * (NAME_MAX_BYTES + WORDS_BYTES / 2);
    s->head = malloc(most);
    if (!s->head)
        return false;
    const char *end =
        put_head(s->head, s, names->measurement, (uint32_t)names->spec->partial_from, count);
    s->head_bytes = (size_t)(end - s->head);
    return true;
}

static void drop(void *encoder)
{
    free(((struct statement *)encoder)->head);
}

static uint64_t values_bytes(const struct statement *s, uint32_t first, uint32_t count)
{
    uint64_t bytes = DEVICE_BYTES + TIME_BYTES + LIST_BYTES;
    for (uint32_t i = first; i < first + count; i++) {
        const struct column *c = &s->schema->columns[i];
        bytes +=
            type_is_text(c->type) ? 3 + JSON_ESCAPE_BYTES * (uint64_t)c->length : NUMBER_BYTES + 1;
    }
    return bytes;
}

static uint64_t frame_bytes(const struct statement *s, uint32_t count)
{
    return s->head_bytes + LIST_BYTES * (OWN_COLUMNS + (uint64_t)count + 3);
}

static uint64_t row_bytes(const void *encoder, uint32_t first, uint32_t count)
{
    return frame_bytes(encoder, count) + values_bytes(encoder, first, count);
}

static inline char *put_value(char *out, const struct batch *batch, uint32_t c, uint32_t row)
{
    const struct column *column = &batch->schema->columns[c];
    const struct column_data *data = &batch->columns[c];
    if (cell_is_null(batch, c, row))
        return put_word(out, "null,");
    if (column->type == TYPE_BOOL)
        return put_word(out, ((const int8_t *)data->values)[row] ? "true," : "false,");
    if (type_is_text(column->type)) {
        const char *text = (const char *)data->values + (size_t)row * column->width;
        *out++ = '"';
        out = json_put_text(out, text, (size_t)data->lengths[row]);
        *out++ = '"';
    } else {
        out = cell_put_number(out, column->type, data->values, row);
    }
    *out++ = ',';
    return out;
}

/* Moves the place behind the next row, whose table it returns. */
static inline uint32_t take_row(const struct batch *batch, struct post_place *place)
{
    const struct slice *slice = &batch->slices[place->slice];
    if (++place->row == slice->rows) {
        place->row = 0;
        place->slice++;
    }
    return slice->table;
}

static inline char *put_device(char *out, const struct batch *batch, struct post_place *place)
{
    out = put_unsigned(out, take_row(batch, place));
    *out++ = ',';
    return out;
}

static inline char *put_moment(char *out, struct post_place *place, int64_t ms)
{
    out = put_time(&place->time, out, ms);
    *out++ = ',';
    return out;
}

/* The last value has a comma behind it. */
static char *end_list(char *out)
{
    out[-1] = ']';
    *out++ = ',';
    return out;
}

static char *put_columns(char *out, const struct batch *batch, struct post_place *place,
                         uint32_t first, uint32_t count)
{
    const uint32_t end = first + count;
    *out++ = '[';
    for (uint32_t row = first; row < end; row++)
        out = put_device(out, batch, place);
    out = end_list(out);
    *out++ = '[';
    for (uint32_t row = first; row < end; row++)
        out = put_moment(out, place, batch->times[row]);
    out = end_list(out);
    for (uint32_t c = batch->first_column; c < batch->first_column + batch->column_count; c++) {
        *out++ = '[';
        for (uint32_t row = first; row < end; row++)
            out = put_value(out, batch, c, row);
        out = end_list(out);
    }
    return out;
}

static char *put_rows(char *out, const struct batch *batch, struct post_place *place,
                      uint32_t first, uint32_t count)
{
    for (uint32_t row = first; row < first + count; row++) {
        *out++ = '[';
        out = put_device(out, batch, place);
        out = put_moment(out, place, batch->times[row]);
        for (uint32_t i = 0; i < batch->column_count; i++)
            out = put_value(out, batch, batch->first_column + i, row);
        out = end_list(out);
    }
    return out;
}

static char *put(const void *encoder, const struct batch *batch, void *next, char *out,
                 uint64_t room, uint32_t *rows)
{
    const struct statement *s = encoder;
    struct post_place *const place = next;
    *rows = 0;
    if (place->slice == batch->slice_count)
        return out;
    const uint32_t first = batch->slices[place->slice].offset + place->row;
    const uint64_t fit = (room - frame_bytes(s, batch->column_count)) /
                         values_bytes(s, batch->first_column, batch->column_count);
    const uint32_t left = batch->rows - first;
    *rows = fit < left ? (uint32_t)fit : left;
    memcpy(out, s->head, s->head_bytes);
    out = (s->is_bulk ? put_rows : put_columns)(out + s->head_bytes, batch, place, first, *rows);
    return put_word(end_list(out) - 1, "}");
}

/* One number of a statement, or one for each row: negative if it failed. */
static uint64_t rows_of(const char *answer)
{
    static const char name[] = "\"rowcount\":";
    uint64_t rows = 0;
    while ((answer = strstr(answer, name))) {
        answer += sizeof name - 1;
        rows += *answer == '-' ? 0 : strtoull(answer, NULL, 10);
    }
    return rows;
}

static enum outcome stored(const char *answer, uint32_t rows, struct fault *fault)
{
    const uint64_t count = rows_of(answer);
    const char *error = strstr(answer, "\"error\":"); /* error of the first row that failed */
    if (count == rows)
        return OUTCOME_OK;
    return fault_set(fault, FAULT_SERVER, "COUNT",
                     "the server says that it inserted %" PRIu64 " of %" PRIu32 " rows%s%.300s",
                     count, rows, error ? ": " : "", error ? error : "");
}

static const struct post_kind kind = {
    .has = has_type,
    .lacks = "CrateDB has no type for",
    .ms_only = "precision: CrateDB has times in whole milliseconds",
    .is_numbered = true,
    .encoder_bytes = sizeof(struct statement),
    .place_bytes = sizeof(struct post_place),
    .init = init,
    .drop = drop,
    .row_bytes = row_bytes,
    .put = put,
    .stored = stored,
};

#define FORM(is_bulk)                                                                              \
    (&(const struct post_form){.kind = &kind,                                                      \
                               .variant = (is_bulk) ? &kind : NULL,                                \
                               .path = "/_sql",                                                    \
                               .header = "Content-Type: application/json\r\n",                     \
                               .port = 4200})
static const struct driver_method methods[] = {
    {"unnest", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(false)},
    {"bulk", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(true)},
    {NULL, 0, NULL},
};
static const char *const options[] = {POSTS_OPTIONS, "auth_scheme", NULL};

const struct driver_ops driver_cratedb = {
    POSTS_FUNCTIONS,
    .name = "cratedb",
    .methods = methods,
    .options = options,
};
