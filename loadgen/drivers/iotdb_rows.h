/* Rows as IoTDB takes them: in columns, each as an array of values in network order, with a bitmap
 * of its NULLs; or row by row, each value after its type. A row with NULLs only keeps its first
 * value, since IoTDB stores no row without a value. */
#ifndef SCALE_IOTDB_ROWS_H
#define SCALE_IOTDB_ROWS_H

#include "../batch.h"
#include "../spec.h"
#include "thrift.h"

struct iotdb_form { /* what all requests of a load say of their columns */
    const struct schema *schema;
    uint32_t first_column, column_count;
    const char *database; /* root.scale: a table is the device root.scale.d7 */
    size_t database_length;
    bool is_aligned;
    uint8_t *names, *types; /* of all columns, as lists of Thrift */
    size_t names_length, types_length;
};

/* NULL, or the first column whose values IoTDB has no type for. */
const struct column *iotdb_lacks(const struct schema *schema, uint32_t first, uint32_t count);

/* False: memory is short. */
bool iotdb_form_init(struct iotdb_form *form, const struct spec *spec, const struct schema *schema);
void iotdb_form_free(struct iotdb_form *form);

/* The most bytes of one row in a tablet, and as a record; and of all else that a slice takes. */
uint64_t iotdb_row_bytes(const struct iotdb_form *form);
uint64_t iotdb_record_bytes(const struct iotdb_form *form);
uint64_t iotdb_slice_bytes(const struct iotdb_form *form);

uint8_t *iotdb_put_device(uint8_t *out, const struct iotdb_form *form, uint32_t table);
/* Of a slice: times, and values column by column, each as bytes of Thrift. */
uint8_t *iotdb_put_times(uint8_t *out, const struct batch *batch, const struct slice *slice);
uint8_t *iotdb_put_values(uint8_t *out, const struct iotdb_form *form, const struct batch *batch,
                          const struct slice *slice);
/* Of a row: the names of its values that are not NULL, and these values. */
uint8_t *iotdb_put_record_names(uint8_t *out, const struct iotdb_form *form,
                                const struct batch *batch, uint32_t row);
uint8_t *iotdb_put_record(uint8_t *out, const struct iotdb_form *form, const struct batch *batch,
                          uint32_t row);

#endif
