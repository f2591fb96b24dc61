/* Rows from a file: the keys `sample_*`. It holds the times, if they are its, then of each column
 * values, lengths of a text and a byte for each NULL, each part filled up to 8 bytes. Row n is row
 * n modulo the period, modulo the rows. */
#ifndef SCALE_SAMPLE_FILE_H
#define SCALE_SAMPLE_FILE_H

#include "batch.h"
#include "spec.h"

struct sample_file {
    uint64_t rows, period;
    const int64_t *times; /* in units of the precision; NULL: times of the load */
    struct column_data *columns;
    uint8_t *bytes; /* other members point into them */
};

/* If the spec names a file. Mistakes are reported under their keys. */
void sample_file_read(struct schema *schema, const struct spec *spec, struct mistakes *mistakes);
void sample_file_free(struct sample_file *sample);

/* Successive rows of one table, into the batch from `offset` on. */
void sample_file_column(const struct schema *schema, uint32_t column, uint64_t first_row,
                        uint32_t rows, struct column_data *data, uint32_t offset);
void sample_file_times(const struct sample_file *sample, uint64_t first_row, uint32_t rows,
                       int64_t *times);

#endif
