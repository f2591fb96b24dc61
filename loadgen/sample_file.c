/* See sample_file.h. */
#include "sample_file.h"

#include <stdlib.h>
#include <string.h>

#include "whole_file.h"

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static uint64_t column_bytes(const struct column *column, uint64_t rows)
{
    return padded(rows * column->width) + padded(rows) +
           (type_is_text(column->type) ? padded(rows * sizeof(int32_t)) : 0);
}

static uint64_t bytes_of(const struct schema *schema, const struct spec *spec)
{
    uint64_t bytes = spec->sample_times ? spec->sample_rows * sizeof(int64_t) : 0;
    for (uint32_t i = 0; i < schema->column_count; i++)
        bytes += column_bytes(&schema->columns[i], spec->sample_rows);
    return bytes;
}

/* False: a text is longer than its column. */
static bool lay_out(struct sample_file *s, const struct schema *schema, const struct spec *spec)
{
    uint8_t *at = s->bytes;
    if (spec->sample_times) {
        s->times = (const int64_t *)(const void *)at;
        at += s->rows * sizeof(int64_t);
    }
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct column *column = &schema->columns[i];
        struct column_data *data = &s->columns[i];
        data->values = at;
        at += padded(s->rows * column->width);
        if (type_is_text(column->type)) {
            data->lengths = (int32_t *)(void *)at;
            at += padded(s->rows * sizeof(int32_t));
            for (uint64_t row = 0; row < s->rows; row++)
                if (data->lengths[row] < 0 || (uint32_t)data->lengths[row] > column->width)
                    return false;
        }
        data->nulls = at;
        at += padded(s->rows);
    }
    return true;
}

void sample_file_read(struct schema *schema, const struct spec *spec, struct mistakes *mistakes)
{
    if (!spec->sample_file)
        return;
    if (!spec->sample_rows) {
        mistake_add(mistakes, "sample_rows", "is needed with sample_file: the rows of the file");
        return;
    }
    struct sample_file *s = calloc(1, sizeof *s);
    if (!s)
        abort();
    schema->sample = s;
    s->rows = spec->sample_rows;
    s->period = spec->sample_period ? spec->sample_period : s->rows;
    s->columns = calloc(schema->column_count, sizeof *s->columns);
    if (!s->columns)
        abort();
    const uint64_t wanted = bytes_of(schema, spec);
    uint64_t size = 0;
    s->bytes = whole_file(spec->sample_file, wanted, &size, "sample_file", mistakes);
    if (s->bytes && size != wanted)
        mistake_add(mistakes, "sample_file", "has %llu bytes, and %llu rows of these columns %llu",
                    (unsigned long long)size, (unsigned long long)s->rows,
                    (unsigned long long)wanted);
    else if (s->bytes && !lay_out(s, schema, spec))
        mistake_add(mistakes, "sample_file", "has a text that is longer than its column");
}

void sample_file_free(struct sample_file *sample)
{
    if (!sample)
        return;
    free(sample->columns);
    free(sample->bytes);
    free(sample);
}

void sample_file_column(const struct schema *schema, uint32_t column, uint64_t first_row,
                        uint32_t rows, struct column_data *data, uint32_t offset)
{
    const struct sample_file *s = schema->sample;
    const struct column_data *from = &s->columns[column];
    const uint32_t width = schema->columns[column].width;
    for (uint32_t i = 0; i < rows; i++) {
        const uint64_t row = (first_row + i) % s->period % s->rows;
        memcpy((uint8_t *)data->values + (size_t)(offset + i) * width,
               (const uint8_t *)from->values + row * width, width);
        if (data->lengths)
            data->lengths[offset + i] = from->lengths[row];
        if (data->nulls)
            data->nulls[offset + i] = from->nulls[row] != 0;
    }
}

void sample_file_times(const struct sample_file *sample, uint64_t first_row, uint32_t rows,
                       int64_t *times)
{
    for (uint32_t i = 0; i < rows; i++)
        times[i] = sample->times[(first_row + i) % sample->period % sample->rows];
}
