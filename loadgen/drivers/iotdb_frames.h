/* Requests as calls of IoTDB: tablets (columns in network order with bitmaps of NULLs), records
 * (each value after its type), devices of a template, statements. A row of nothing but NULLs keeps
 * its first value: IoTDB stores no other. */
#ifndef SCALE_IOTDB_FRAMES_H
#define SCALE_IOTDB_FRAMES_H

#include "../batch.h"
#include "../spec.h"
#include "thrift.h"

struct iotdb_form { /* the columns, for all requests of a load */
    const struct schema *schema;
    uint32_t first_column, column_count;
    const char *database; /* root.scale: a table is the device root.scale.d7 */
    size_t database_length;
    bool is_aligned;
    uint8_t *names, *types; /* all columns, as lists of Thrift */
    size_t names_length, types_length;
};

const struct column *iotdb_lacks(const struct schema *schema, uint32_t first, uint32_t count);

/* False: out of memory. */
bool iotdb_form_init(struct iotdb_form *form, const struct spec *spec, const struct schema *schema);
void iotdb_form_free(struct iotdb_form *form);

/* The most bytes of a row in a tablet, as a record, and of a slice without rows. */
uint64_t iotdb_row_bytes(const struct iotdb_form *form);
uint64_t iotdb_record_bytes(const struct iotdb_form *form);
uint64_t iotdb_slice_bytes(const struct iotdb_form *form);
uint8_t *iotdb_put_device(uint8_t *out, const struct iotdb_form *form, uint32_t table);

struct iotdb_call { /* the fields that all calls have */
    const struct iotdb_form *form;
    const struct batch *batch;
    int64_t session;
    uint32_t number;
};

/* Each writes the frame of a call and returns its end. */
uint8_t *iotdb_put_tablet(uint8_t *frame, const struct iotdb_call *call, const struct slice *slice);
uint8_t *iotdb_put_tablets(uint8_t *frame, const struct iotdb_call *call);
uint8_t *iotdb_put_records(uint8_t *frame, const struct iotdb_call *call);

/* createTimeseriesUsingSchemaTemplate for `count` tables from `first` on. */
uint8_t *iotdb_put_devices(uint8_t *frame, const struct iotdb_call *call, uint32_t first,
                           uint32_t count);

struct iotdb_statement {
    int64_t id; /* given by the server */
    const char *text;
    uint32_t rows_max;
    int64_t within_ms; /* then the server ends it */
};

/* executeStatement. */
uint8_t *iotdb_put_statement(uint8_t *frame, const struct iotdb_call *call,
                             const struct iotdb_statement *statement);

/* fetchResults: so many more rows of the server's answer `query`. */
uint8_t *iotdb_put_fetch(uint8_t *frame, const struct iotdb_call *call,
                         const struct iotdb_statement *statement, int64_t query);

#endif
