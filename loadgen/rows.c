/* The verb `rows`: prints rows as the load sends them. It needs no server. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "job.h"
#include "values.h"

enum { RANGE_ROWS_MAX = 1000000 };

static void put_text(struct json *json, const struct column *column, const uint8_t *bytes,
                     int32_t length)
{
    char *hex = NULL;
    if (column->type == TYPE_BINARY || column->type == TYPE_NCHAR) {
        json_text(json, (const char *)bytes, (size_t)length);
        return;
    }
    if (!(hex = malloc((size_t)length * 2 + 1)))
        abort();
    for (int32_t i = 0; i < length; i++)
        sprintf(hex + 2 * i, "%02x", bytes[i]);
    json_text(json, hex, (size_t)length * 2);
    free(hex);
}

static void put_column(struct json *json, const struct column *column,
                       const struct column_data *data, uint32_t rows)
{
    char text[TYPE_TEXT_BYTES];
    json_begin(json, column->name, '[');
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *value = (const uint8_t *)data->values + (size_t)i * column->width;
        if (data->nulls && data->nulls[i])
            json_plain(json, "null", 4);
        else if (type_is_text(column->type))
            put_text(json, column, value, data->lengths[i]);
        else
            json_plain(json, text, type_print(column->type, value, text));
    }
    json_close(json, ']');
}

static void put_rows(const struct job *job, const struct batch *batch)
{
    const int64_t per_ms = spec_units_per_ms(&job->spec);
    struct json json;
    event_begin(&json, "rows");
    json_put_whole(&json, "table", batch->slices[0].table);
    json_put_whole(&json, "first", batch->slices[0].first_row);
    json_begin(&json, "time_ms", '[');
    for (uint32_t i = 0; i < batch->rows; i++)
        json_ms(&json, batch->times[i], per_ms);
    json_close(&json, ']');
    json_begin(&json, "columns", '{');
    for (uint32_t c = 0; c < job->schema.column_count; c++)
        put_column(&json, &job->schema.columns[c], &batch->columns[c], batch->rows);
    json_close(&json, '}');
    event_end(&json);
}

static bool make_and_print(struct job *job, uint32_t table, uint64_t first, uint32_t count)
{
    struct batch batch;
    struct maker *maker = values_open(&job->spec, &job->schema, count,
                                      batch_has_nulls(&job->spec, &job->schema), &batch);
    if (!maker)
        return false;
    batch.rows = count;
    batch.slice_count = 1;
    batch.slices[0] = (struct slice){table, count, 0, first};
    values_make(maker, &batch);
    put_rows(job, &batch);
    values_close(maker, &batch);
    return true;
}

/* "TABLE:FIRST:COUNT" */
static bool read_range(const char *text, uint64_t numbers[3])
{
    char *end = NULL;
    for (int i = 0; i < 3; i++, text = end + 1) {
        errno = 0;
        if (!isdigit((unsigned char)*text))
            return false;
        numbers[i] = strtoull(text, &end, 10);
        if (errno || *end != (i < 2 ? ':' : '\0'))
            return false;
    }
    return true;
}

static bool check_range(const struct job *job, const char *item, uint64_t numbers[3])
{
    struct mistakes mistakes = {0};
    if (!read_range(item, numbers))
        mistake_add(&mistakes, "rows_of", "'%s' is not TABLE:FIRST:COUNT", item);
    else if (numbers[0] >= job->spec.tables)
        mistake_add(&mistakes, "rows_of", "'%s': there are %" PRIu64 " tables", item,
                    job->spec.tables);
    else if (numbers[2] < 1 || numbers[2] > RANGE_ROWS_MAX || numbers[1] > 1000000000000000)
        mistake_add(&mistakes, "rows_of", "'%s': a range has 1..%d rows", item, RANGE_ROWS_MAX);
    return mistakes.count == 0;
}

enum exitcode verb_rows(struct job *job)
{
    enum exitcode code = EXIT_DONE;
    uint64_t numbers[3];
    struct mistakes mistakes = {0};
    if (!job->spec.rows_of) {
        mistake_add(&mistakes, "rows_of", "is needed: TABLE:FIRST:COUNT,...");
        return EXIT_SPEC;
    }
    char *checked = strdup(job->spec.rows_of), *copy = strdup(job->spec.rows_of), *item;
    if (!copy || !checked)
        abort();
    for (char *rest = checked; (item = strsep(&rest, ",")) != NULL;)
        code = check_range(job, item, numbers) ? code : EXIT_SPEC;
    for (char *rest = copy; code == EXIT_DONE && (item = strsep(&rest, ",")) != NULL;)
        if (!read_range(item, numbers) ||
            !make_and_print(job, (uint32_t)numbers[0], numbers[1], (uint32_t)numbers[2]))
            code = EXIT_INTERNAL;
    free(copy);
    free(checked);
    return code;
}
