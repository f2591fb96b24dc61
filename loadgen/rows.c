/* The verb `rows`: prints rows as the load sends them, for correct answers. It needs no server. */
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

#define SHOWN(c_type, format)                                                                      \
    do {                                                                                           \
        c_type v;                                                                                  \
        memcpy(&v, value, sizeof v);                                                               \
        return (size_t)snprintf(out, size, format, v);                                             \
    } while (0)

/* Prints a number with as many digits as reading it back needs. */
static size_t print_number(char *out, size_t size, enum type type, const void *value)
{
    float real;
    switch (type) {
    case TYPE_BOOL:
        return (size_t)snprintf(out, size, "%s", *(const uint8_t *)value ? "true" : "false");
    case TYPE_UTINYINT:
        SHOWN(uint8_t, "%" PRIu8);
    case TYPE_TINYINT:
        SHOWN(int8_t, "%" PRId8);
    case TYPE_SMALLINT:
        SHOWN(int16_t, "%" PRId16);
    case TYPE_USMALLINT:
        SHOWN(uint16_t, "%" PRIu16);
    case TYPE_INT:
        SHOWN(int32_t, "%" PRId32);
    case TYPE_UINT:
        SHOWN(uint32_t, "%" PRIu32);
    case TYPE_UBIGINT:
        SHOWN(uint64_t, "%" PRIu64);
    case TYPE_DOUBLE:
        SHOWN(double, "%.17g");
    case TYPE_FLOAT:
        memcpy(&real, value, sizeof real);
        return (size_t)snprintf(out, size, "%.9g", (double)real);
    default: /* a bigint, or a timestamp in units of the precision */
        SHOWN(int64_t, "%" PRId64);
    }
}

static void put_column(struct json *json, const struct column *column,
                       const struct column_data *data, uint32_t rows)
{
    char text[40];
    json_key(json, column->name);
    json_open(json, '[');
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *value = (const uint8_t *)data->values + (size_t)i * column->width;
        if (data->nulls && data->nulls[i])
            json_plain(json, "null", 4);
        else if (type_is_text(column->type))
            put_text(json, column, value, data->lengths[i]);
        else
            json_plain(json, text, print_number(text, sizeof text, column->type, value));
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
    json_key(&json, "time_ms");
    json_open(&json, '[');
    for (uint32_t i = 0; i < batch->rows; i++)
        json_ms(&json, batch->times[i], per_ms);
    json_close(&json, ']');
    json_key(&json, "columns");
    json_open(&json, '{');
    for (uint32_t c = 0; c < job->schema.column_count; c++)
        put_column(&json, &job->schema.columns[c], &batch->columns[c], batch->rows);
    json_close(&json, '}');
    event_end(&json);
}

/* Makes and prints the rows of one range; what a request carries does not change a row. */
static bool make_and_print(struct job *job, uint32_t table, uint64_t first, uint32_t count)
{
    struct maker *maker = aligned_alloc(_Alignof(struct maker), sizeof *maker);
    struct batch batch = {.rows = 0};
    job->spec.rows_per_request = count;
    job->spec.interlace_rows = 0;
    if (maker)
        *maker = (struct maker){.spec = NULL};
    const bool ok = maker && values_init(maker, &job->spec, &job->schema) == 0 &&
                    batch_init(&batch, &job->schema, count, 1, 0, job->schema.column_count,
                               batch_has_nulls(&job->spec, &job->schema)) == 0;
    if (ok) {
        batch.rows = count;
        batch.slice_count = 1;
        batch.slices[0] = (struct slice){table, count, 0, first};
        values_make(maker, &batch);
        put_rows(job, &batch);
    }
    if (batch.schema)
        batch_free(&batch);
    if (maker)
        values_free(maker);
    free(maker);
    return ok;
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
