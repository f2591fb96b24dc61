/* The rows of one request, by column: allocated once per worker. */
#ifndef SCALE_BATCH_H
#define SCALE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "schema.h"

struct slice { /* successive rows of one table */
    uint32_t table;
    uint32_t rows;
    uint32_t offset; /* place of its first row in the columns of the batch */
    uint64_t first_row; /* number of that row within its table */
};

struct column_data {
    void *values; /* rows x width bytes */
    int32_t *lengths; /* bytes used of each value; NULL for fixed types */
    uint8_t *nulls; /* 1: NULL; the array is NULL when the batch has none */
};

struct batch {
    const struct schema *schema;
    uint32_t first_column; /* a request may carry only columns first_column.. */
    uint32_t column_count; /* .. first_column + column_count - 1 */
    uint32_t rows;
    uint32_t slice_count;
    struct slice *slices;
    int64_t *times; /* in units of the spec's precision */
    struct column_data *columns; /* indexed as schema->columns; unused ones are empty */
};

struct spec;

bool batch_has_nulls(const struct spec *spec, const struct schema *schema);

uint64_t batch_bytes(const struct schema *schema, uint64_t rows_max, uint32_t first_column,
                     uint32_t column_count, bool has_nulls);

/* Returns 0, or -1 if out of memory. */
int batch_init(struct batch *batch, const struct schema *schema, uint32_t rows_max,
               uint32_t slices_max, uint32_t first_column, uint32_t column_count, bool has_nulls);
void batch_free(struct batch *batch);

#endif
