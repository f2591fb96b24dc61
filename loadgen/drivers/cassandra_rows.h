/* Rows as values of CQL: which type a column has there, and the bytes of a row in a batch. A NULL
 * is a value that is not set, so that no tombstone is written for it. */
#ifndef SCALE_CASSANDRA_ROWS_H
#define SCALE_CASSANDRA_ROWS_H

#include "../batch.h"
#include "cql.h"

/* NULL, or the first column whose values CQL has no type for. */
const struct column *cassandra_lacks(const struct schema *schema, uint32_t first, uint32_t count);

/* The most bytes of one row's values. */
uint64_t cassandra_row_bytes(const struct schema *schema, uint32_t first, uint32_t count);

/* Values of a row of `table`: the device, the time in milliseconds, and the batch's columns. */
uint8_t *cassandra_put_row(uint8_t *out, const struct batch *batch, uint32_t table, uint32_t row);

#endif
