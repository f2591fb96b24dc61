/* See batch.h. */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

#include "spec.h"

/* Zeroed and aligned to a cache line, for vector loops and sanitizers. */
static void *lines(size_t bytes)
{
    const size_t rounded = (bytes + 127) / 64 * 64;
    void *memory = aligned_alloc(64, rounded);
    if (memory)
        memset(memory, 0, rounded);
    return memory;
}

bool batch_has_nulls(const struct spec *spec, const struct schema *schema)
{
    return spec->null_ratio > 0 || schema->sample;
}

int batch_init(struct batch *batch, const struct schema *schema, uint32_t rows_max,
               uint32_t slices_max, uint32_t first_column, uint32_t column_count, bool has_nulls)
{
    *batch = (struct batch){.schema = schema,
                            .first_column = first_column,
                            .column_count = column_count,
                            .slices = calloc(slices_max, sizeof *batch->slices),
                            .times = lines((size_t)rows_max * sizeof *batch->times),
                            .columns = calloc(schema->column_count, sizeof *batch->columns)};
    if (!batch->slices || !batch->times || !batch->columns)
        return -1;
    for (uint32_t i = first_column; i < first_column + column_count; i++) {
        const struct column *column = &schema->columns[i];
        struct column_data *data = &batch->columns[i];
        data->values = lines((size_t)rows_max * column->width);
        if (type_is_text(column->type))
            data->lengths = lines((size_t)rows_max * sizeof *data->lengths);
        if (has_nulls)
            data->nulls = lines(rows_max);
        if (!data->values || (type_is_text(column->type) && !data->lengths) ||
            (has_nulls && !data->nulls))
            return -1;
    }
    return 0;
}

uint64_t batch_bytes(const struct schema *schema, uint64_t rows_max, uint32_t first_column,
                     uint32_t column_count, bool has_nulls)
{
    uint64_t bytes = sizeof(int64_t);
    for (uint32_t i = first_column; i < first_column + column_count; i++) {
        bytes += schema->columns[i].width + (has_nulls ? 1 : 0);
        if (type_is_text(schema->columns[i].type))
            bytes += sizeof(int32_t);
    }
    return bytes * rows_max;
}

void batch_free(struct batch *batch)
{
    for (uint32_t i = 0; batch->columns && i < batch->schema->column_count; i++) {
        free(batch->columns[i].values);
        free(batch->columns[i].lengths);
        free(batch->columns[i].nulls);
    }
    free(batch->columns);
    free(batch->slices);
    free(batch->times);
}
