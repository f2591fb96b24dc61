/* Requests of rows as calls of IoTDB: one tablet, several tablets, or records row by row. */
#ifndef SCALE_IOTDB_CALLS_H
#define SCALE_IOTDB_CALLS_H

#include "iotdb_rows.h"

struct iotdb_call { /* what each of the calls says */
    const struct iotdb_form *form;
    const struct batch *batch;
    int64_t session;
    uint32_t number;
};

/* Each writes the frame of one call into room for iotdb_call_bytes, and returns its end. */
uint8_t *iotdb_put_tablet(uint8_t *frame, const struct iotdb_call *call, const struct slice *slice);
uint8_t *iotdb_put_tablets(uint8_t *frame, const struct iotdb_call *call);
uint8_t *iotdb_put_records(uint8_t *frame, const struct iotdb_call *call);

/* createTimeseriesUsingSchemaTemplate for `count` tables from `first` on. */
uint8_t *iotdb_put_devices(uint8_t *frame, const struct iotdb_call *call, uint32_t first,
                           uint32_t count);

struct iotdb_statement {
    int64_t id; /* by the server */
    const char *text;
    uint32_t rows_max;
    int64_t within_ms; /* the server ends it then */
};

/* executeStatement. */
uint8_t *iotdb_put_statement(uint8_t *frame, const struct iotdb_call *call,
                             const struct iotdb_statement *asked);

/* fetchResults: as many rows more of the answer that the server numbered `query`. */
uint8_t *iotdb_put_fetch(uint8_t *frame, const struct iotdb_call *call,
                         const struct iotdb_statement *asked, int64_t query);

#endif
