/* See sums.h. */
#include "sums.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/cells.h"
#include "drivers/numbers.h"

bool sums_init(struct sums *sums, const struct schema *schema, double units_per_ms, bool is_decimal)
{
    *sums = (struct sums){.schema = schema, .units_per_ms = units_per_ms, .is_decimal = is_decimal};
    /* not calloc: long double and __int128 want 16 bytes */
    sums->columns = aligned_alloc(16, (schema->column_count + 1) * sizeof *sums->columns);
    return sums->columns != NULL;
}

void sums_clear(struct sums *sums)
{
    sums->rows = 0;
    sums->first = INT64_MAX;
    sums->last = INT64_MIN;
    sums->times = 0;
    for (uint32_t c = 0; c < sums->schema->column_count; c++)
        sums->columns[c] = (struct column_sums){.least = INFINITY, .most = -INFINITY};
}

void sums_free(struct sums *sums)
{
    free(sums->columns);
}

static bool is_real(enum type type)
{
    return type == TYPE_FLOAT || type == TYPE_DOUBLE;
}

static double real_of(const struct sums *sums, enum type type, const void *values, uint32_t row)
{
    if (type == TYPE_DOUBLE)
        return ((const double *)values)[row];
    const float value = ((const float *)values)[row];
    return sums->is_decimal ? numbers_double_of(value) : (double)value;
}

static void add_real(struct column_sums *c, double value, double ms)
{
    const long double timed = (long double)value * ms;
    c->real += value;
    c->size += fabs(value);
    c->timed += timed;
    c->timed_size += fabsl(timed);
    c->least = value < c->least ? value : c->least;
    c->most = value > c->most ? value : c->most;
}

static void add_whole(struct column_sums *c, wide value, double ms)
{
    const long double timed = (long double)value * ms;
    c->whole += value;
    c->timed += timed;
    c->timed_size += fabsl(timed);
    c->whole_least = c->values == 1 || value < c->whole_least ? value : c->whole_least;
    c->whole_most = c->values == 1 || value > c->whole_most ? value : c->whole_most;
}

static wide whole_of(enum type type, const struct column_data *data, uint32_t row)
{
    if (type_is_text(type))
        return data->lengths[row];
    if (type == TYPE_UBIGINT)
        return ((const uint64_t *)data->values)[row];
    return cell_whole(type, data->values, row);
}

static void add_column(struct sums *sums, uint32_t index, const struct batch *batch, int64_t start,
                       const uint8_t *chosen)
{
    const struct column_data *data = &batch->columns[index];
    const enum type type = sums->schema->columns[index].type;
    struct column_sums *c = &sums->columns[index];
    for (uint32_t i = 0; i < batch->rows; i++) {
        const double ms = (double)(batch->times[i] - start) / sums->units_per_ms;
        if ((chosen && !chosen[i]) || (data->nulls && data->nulls[i]))
            continue;
        c->values++;
        if (is_real(type))
            add_real(c, real_of(sums, type, data->values, i), ms);
        else
            add_whole(c, whole_of(type, data, i), ms);
    }
}

void sums_add(struct sums *sums, const struct batch *batch, int64_t start, const uint8_t *chosen)
{
    for (uint32_t i = 0; i < batch->rows; i++) {
        const int64_t time = batch->times[i] - start;
        if (chosen && !chosen[i])
            continue;
        sums->rows++;
        sums->times += time;
        sums->first = time < sums->first ? time : sums->first;
        sums->last = time > sums->last ? time : sums->last;
    }
    for (uint32_t c = 0; c < sums->schema->column_count; c++)
        add_column(sums, c, batch, start, chosen);
}

static void put_wide(struct json *json, const char *key, wide value)
{
    char digits[48], *at = digits + sizeof digits;
    const bool is_negative = value < 0;
    do {
        const int digit = (int)(value % 10);
        *--at = (char)('0' + (digit < 0 ? -digit : digit));
    } while ((value /= 10) != 0);
    if (is_negative)
        *--at = '-';
    json_key(json, key);
    json_plain(json, at, (size_t)(digits + sizeof digits - at));
}

/* As many digits as reading it back needs. */
static void put_real(struct json *json, const char *key, double value)
{
    char text[40];
    json_key(json, key);
    json_plain(json, text, (size_t)snprintf(text, sizeof text, "%.17g", value));
}

static void put_column(const struct sums *sums, uint32_t index, struct json *json)
{
    const struct column_sums *c = &sums->columns[index];
    json_begin(json, sums->schema->columns[index].name, '{');
    json_put_whole(json, "values", c->values);
    if (c->values && is_real(sums->schema->columns[index].type)) {
        put_real(json, "sum", (double)c->real);
        put_real(json, "size", (double)c->size);
        put_real(json, "least", c->least);
        put_real(json, "greatest", c->most);
    } else if (c->values) {
        put_wide(json, "sum", c->whole);
        put_wide(json, "least", c->whole_least);
        put_wide(json, "greatest", c->whole_most);
    }
    if (c->values) {
        put_real(json, "timed", (double)c->timed);
        put_real(json, "timed_size", (double)c->timed_size);
    }
    json_close(json, '}');
}

void sums_put(const struct sums *sums, struct json *json)
{
    json_put_whole(json, "rows", sums->rows);
    json_put_real(json, "units_per_ms", sums->units_per_ms);
    if (sums->rows) {
        put_wide(json, "first", sums->first);
        put_wide(json, "last", sums->last);
        put_wide(json, "times", sums->times);
    }
    json_begin(json, "columns", '{');
    for (uint32_t c = 0; c < sums->schema->column_count; c++)
        put_column(sums, c, json);
    json_close(json, '}');
}
