/* Calls of IoTDB; see iotdb_calls.h. The numbers of fields are those of its client.thrift. */
#include "iotdb_calls.h"

/* The structure of a request begins, with the session as its first field. */
static uint8_t *begin(uint8_t *frame, const char *name, const struct iotdb_call *call)
{
    uint8_t *out = thrift_begin(frame, name, call->number);
    out = thrift_put_field(out, THRIFT_STRUCT, 1);
    return thrift_put64(thrift_put_field(out, THRIFT_I64, 1), (uint64_t)call->session);
}

static uint8_t *end(uint8_t *frame, uint8_t *out)
{
    return thrift_end(frame, thrift_put8(out, THRIFT_STOP));
}

static uint8_t *put_aligned(uint8_t *out, uint8_t id, const struct iotdb_form *form)
{
    return thrift_put8(thrift_put_field(out, THRIFT_BOOL, id), form->is_aligned);
}

static uint8_t *put_made(uint8_t *out, const uint8_t *list, size_t length)
{
    memcpy(out, list, length);
    return out + length;
}

uint8_t *iotdb_put_tablet(uint8_t *frame, const struct iotdb_call *call, const struct slice *slice)
{
    const struct iotdb_form *form = call->form;
    uint8_t *out = begin(frame, "insertTablet", call);
    out = iotdb_put_device(thrift_put_field(out, THRIFT_STRING, 2), form, slice->table);
    out = put_made(thrift_put_field(out, THRIFT_LIST, 3), form->names, form->names_length);
    out = iotdb_put_values(thrift_put_field(out, THRIFT_STRING, 4), form, call->batch, slice);
    out = iotdb_put_times(thrift_put_field(out, THRIFT_STRING, 5), call->batch, slice);
    out = put_made(thrift_put_field(out, THRIFT_LIST, 6), form->types, form->types_length);
    out = thrift_put32(thrift_put_field(out, THRIFT_I32, 7), slice->rows);
    return end(frame, put_aligned(out, 8, form));
}

uint8_t *iotdb_put_tablets(uint8_t *frame, const struct iotdb_call *call)
{
    const struct iotdb_form *form = call->form;
    const struct batch *batch = call->batch;
    const uint32_t count = batch->slice_count;
    const struct slice *slices = batch->slices;
    uint8_t *out = begin(frame, "insertTablets", call);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 2), THRIFT_STRING, count);
    for (uint32_t i = 0; i < count; i++)
        out = iotdb_put_device(out, form, slices[i].table);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 3), THRIFT_LIST, count);
    for (uint32_t i = 0; i < count; i++)
        out = put_made(out, form->names, form->names_length);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 4), THRIFT_STRING, count);
    for (uint32_t i = 0; i < count; i++)
        out = iotdb_put_values(out, form, batch, &slices[i]);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 5), THRIFT_STRING, count);
    for (uint32_t i = 0; i < count; i++)
        out = iotdb_put_times(out, batch, &slices[i]);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 6), THRIFT_LIST, count);
    for (uint32_t i = 0; i < count; i++)
        out = put_made(out, form->types, form->types_length);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 7), THRIFT_I32, count);
    for (uint32_t i = 0; i < count; i++)
        out = thrift_put32(out, slices[i].rows);
    return end(frame, put_aligned(out, 8, form));
}

uint8_t *iotdb_put_records(uint8_t *frame, const struct iotdb_call *call)
{
    const struct iotdb_form *form = call->form;
    const struct batch *batch = call->batch;
    const struct slice *last = batch->slices + batch->slice_count;
    uint8_t *out = begin(frame, "insertRecords", call);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 2), THRIFT_STRING, batch->rows);
    for (const struct slice *slice = batch->slices; slice < last; slice++)
        for (uint32_t i = 0; i < slice->rows; i++)
            out = iotdb_put_device(out, form, slice->table);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 3), THRIFT_LIST, batch->rows);
    for (uint32_t row = 0; row < batch->rows; row++)
        out = iotdb_put_record_names(out, form, batch, row);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 4), THRIFT_STRING, batch->rows);
    for (uint32_t row = 0; row < batch->rows; row++)
        out = iotdb_put_record(out, form, batch, row);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 5), THRIFT_I64, batch->rows);
    for (uint32_t row = 0; row < batch->rows; row++)
        out = thrift_put64(out, (uint64_t)batch->times[row]);
    return end(frame, put_aligned(out, 6, form));
}

uint8_t *iotdb_put_devices(uint8_t *frame, const struct iotdb_call *call, uint32_t first,
                           uint32_t count)
{
    uint8_t *out = begin(frame, "createTimeseriesUsingSchemaTemplate", call);
    out = thrift_put_list(thrift_put_field(out, THRIFT_LIST, 2), THRIFT_STRING, count);
    for (uint32_t table = first; table < first + count; table++)
        out = iotdb_put_device(out, call->form, table);
    return end(frame, out);
}

uint8_t *iotdb_put_statement(uint8_t *frame, const struct iotdb_call *call,
                             const struct iotdb_statement *asked)
{
    uint8_t *out = begin(frame, "executeStatement", call);
    out =
        thrift_put_bytes(thrift_put_field(out, THRIFT_STRING, 2), asked->text, strlen(asked->text));
    out = thrift_put64(thrift_put_field(out, THRIFT_I64, 3), (uint64_t)asked->id);
    out = thrift_put32(thrift_put_field(out, THRIFT_I32, 4), asked->rows_max);
    out = thrift_put64(thrift_put_field(out, THRIFT_I64, 5), (uint64_t)asked->within_ms);
    return end(frame, out);
}

uint8_t *iotdb_put_fetch(uint8_t *frame, const struct iotdb_call *call,
                         const struct iotdb_statement *asked, int64_t query)
{
    uint8_t *out = begin(frame, "fetchResults", call);
    out =
        thrift_put_bytes(thrift_put_field(out, THRIFT_STRING, 2), asked->text, strlen(asked->text));
    out = thrift_put32(thrift_put_field(out, THRIFT_I32, 3), asked->rows_max);
    out = thrift_put64(thrift_put_field(out, THRIFT_I64, 4), (uint64_t)query);
    out = thrift_put8(thrift_put_field(out, THRIFT_BOOL, 5), true);
    out = thrift_put64(thrift_put_field(out, THRIFT_I64, 6), (uint64_t)asked->within_ms);
    out = thrift_put64(thrift_put_field(out, THRIFT_I64, 7), (uint64_t)asked->id);
    return end(frame, out);
}
