/* The driver of Apache IoTDB, by its session protocol: Thrift over framed TCP, no client library.
 * A table of the load is a device, database.d7. Method `tablet` sends each slice of a request as a
 * tablet, many of them in flight on its connection before the first answer is waited for; `tablets`
 * all slices in one call; `records` the same rows one by one. Options: aligned=1, where the devices
 * are; page_rows=5000, rows of an answer that are asked for at once. The verb `tables` makes
 * devices of the template that is set on the database. */
#include <stdlib.h>

#include "../deadline.h"
#include "iotdb_answer.h"

enum { IN_FLIGHT_MAX = 128, DEVICES_MAX = 1000, PAGE_ROWS = 5000, PAGE_ROWS_MAX = 1000000 };
enum { FIELDS_BYTES = 256 }; /* of a call, without its slices or its text */

/* A server takes frames of 512 MiB. Tablets of so many bytes are in flight at once, and one more.
 */
#define FRAME_BYTES ((uint64_t)1 << 28)
#define FLOWN_BYTES ((uint64_t)1 << 22)

#define CALL(method) (&(const enum iotdb_method){method})
static const struct driver_method methods[] = {
    {"tablet", FEATURE_DEADLINE | FEATURE_SEPARABLE, CALL(IOTDB_TABLET)},
    {"tablets", FEATURE_DEADLINE | FEATURE_SEPARABLE, CALL(IOTDB_TABLETS)},
    {"records", FEATURE_DEADLINE | FEATURE_SEPARABLE, CALL(IOTDB_RECORDS)},
    {NULL, 0, NULL}};
static const char *const options[] = {"aligned", "page_rows", NULL};

static uint64_t row_bytes(const struct driver *d)
{
    return d->method == IOTDB_RECORDS ? iotdb_record_bytes(&d->form) : iotdb_row_bytes(&d->form);
}

static uint64_t call_bytes(const struct driver *d, uint64_t slices, uint64_t rows)
{
    return THRIFT_HEAD_BYTES + FIELDS_BYTES + slices * iotdb_slice_bytes(&d->form) +
           rows * row_bytes(d);
}

static enum outcome iotdb_open(const struct driver_setup *setup, struct driver **driver,
                               struct fault *fault)
{
    const struct spec *spec = setup->spec;
    uint64_t is_aligned = 0;
    char why[160];
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->method = *(const enum iotdb_method *)setup->method->form;
    d->page_rows = PAGE_ROWS;
    if (!spec_option_whole(spec, "aligned", 0, 1, &is_aligned, why, sizeof why) ||
        !spec_option_whole(spec, "page_rows", 1, PAGE_ROWS_MAX, &d->page_rows, why, sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return OUTCOME_FATAL;
    }
    if (!iotdb_form_init(&d->form, spec, setup->schema))
        return fault_no_memory(fault);
    d->form.is_aligned = is_aligned;
    const struct column *lacking =
        iotdb_lacks(setup->schema, d->form.first_column, d->form.column_count);
    if (lacking) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: IoTDB has no type for %s:%s", lacking->name,
                  type_name(lacking->type));
        return OUTCOME_FATAL;
    }
    const uint64_t slices =
        spec->interlace_rows ? spec->rows_per_request / spec->interlace_rows + 1 : 1;
    if (call_bytes(d, slices, spec->rows_per_request) > FRAME_BYTES) {
        fault_set(fault, FAULT_SPEC, "SPEC",
                  "rows_per_request: a call of so many rows is too long");
        return OUTCOME_FATAL;
    }
    return OUTCOME_OK;
}

static enum outcome iotdb_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    (void)fault;
    for (uint32_t table = 0; table < spec->tables; table++)
        partition_of[table] = table % (uint32_t)spec->partitions;
    return OUTCOME_OK;
}

size_t iotdb_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    uint8_t name[4 + DRIVER_NAME_MAX];
    const uint8_t *end = iotdb_put_device(name, &d->form, table);
    memcpy(out, name + 4, (size_t)(end - name) - 4);
    return (size_t)(end - name) - 4;
}

static void iotdb_disconnect(struct connection *c)
{
    iotdb_leave(&c->session);
    iotdb_free_asks(c);
    free(c->bytes);
    free(c);
}

static enum outcome iotdb_connect(struct driver *d, uint32_t worker, struct connection **connection,
                                  struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->session.stream.fd = -1;
    if (!d->setup->is_sending_stubbed && iotdb_reach(&c->session, d->setup, fault) != OUTCOME_OK) {
        iotdb_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

/* Keeps what is written already. */
bool iotdb_make_room(struct connection *c, uint64_t bytes)
{
    if (bytes <= c->size)
        return true;
    uint8_t *larger = realloc(c->bytes, bytes);
    if (!larger)
        return false;
    c->bytes = larger;
    c->size = bytes;
    return true;
}

struct iotdb_call iotdb_call_of(struct connection *c, const struct batch *batch)
{
    return (struct iotdb_call){.form = &c->driver->form,
                               .batch = batch,
                               .session = c->session.id,
                               .number = c->session.calls++};
}

/* Sends what is written, and waits for the answers to the last `count` calls. All of them are read,
 * also after one that was refused, so that the connection is good for the next. */
static enum outcome fly(struct connection *c, const uint8_t *end, uint32_t count,
                        struct fault *fault)
{
    const uint32_t first = c->session.calls - count;
    enum outcome outcome = OUTCOME_OK;
    struct fault other;
    if (c->driver->setup->is_sending_stubbed)
        return OUTCOME_OK;
    if (!stream_write(&c->session.stream, c->bytes, (size_t)(end - c->bytes), NULL, 0))
        return iotdb_broken(&c->session, fault);
    for (uint32_t i = 0; i < count; i++) {
        const enum outcome one =
            iotdb_read_status(&c->session, first + i, outcome == OUTCOME_OK ? fault : &other);
        outcome = outcome == OUTCOME_OK ? one : outcome;
        if (c->session.stream.fd < 0) {
            if (one == OUTCOME_FATAL && outcome != OUTCOME_FATAL)
                *fault = other;
            return one == OUTCOME_FATAL ? one : outcome;
        }
    }
    return outcome;
}

static enum outcome send_tablets_apart(struct connection *c, const struct batch *batch,
                                       uint64_t *rows_acked, struct fault *fault)
{
    uint64_t used = 0, rows = 0;
    uint32_t flown = 0;
    for (uint32_t i = 0; i < batch->slice_count; i++) {
        const struct slice *slice = &batch->slices[i];
        if (!iotdb_make_room(c, used + call_bytes(c->driver, 1, slice->rows)))
            return fault_no_memory(fault);
        const struct iotdb_call call = iotdb_call_of(c, batch);
        used = (uint64_t)(iotdb_put_tablet(c->bytes + used, &call, slice) - c->bytes);
        rows += slice->rows;
        flown++;
        if (flown < IN_FLIGHT_MAX && used < FLOWN_BYTES && i + 1 < batch->slice_count)
            continue;
        const enum outcome outcome = fly(c, c->bytes + used, flown, fault);
        if (outcome != OUTCOME_OK)
            return outcome;
        *rows_acked += rows;
        used = rows = flown = 0;
    }
    return OUTCOME_OK;
}

static enum outcome send_together(struct connection *c, const struct batch *batch,
                                  uint64_t *rows_acked, struct fault *fault)
{
    if (!iotdb_make_room(c, call_bytes(c->driver, batch->slice_count, batch->rows)))
        return fault_no_memory(fault);
    const struct iotdb_call call = iotdb_call_of(c, batch);
    const uint8_t *end = c->driver->method == IOTDB_RECORDS ? iotdb_put_records(c->bytes, &call)
                                                            : iotdb_put_tablets(c->bytes, &call);
    const enum outcome outcome = fly(c, end, 1, fault);
    *rows_acked = outcome == OUTCOME_OK ? batch->rows : 0;
    return outcome;
}

static enum outcome iotdb_send(struct connection *c, const struct batch *batch,
                               uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    *rows_acked = 0;
    stream_deadline(&c->session.stream, deadline_ns);
    if (!c->driver->setup->is_sending_stubbed) {
        const enum outcome outcome = iotdb_reach(&c->session, c->driver->setup, fault);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    return c->driver->method == IOTDB_TABLET ? send_tablets_apart(c, batch, rows_acked, fault)
                                             : send_together(c, batch, rows_acked, fault);
}

static enum outcome iotdb_create_tables(struct connection *c, uint32_t first, uint32_t count,
                                        struct fault *fault)
{
    enum outcome outcome = iotdb_reach(&c->session, c->driver->setup, fault);
    if (!iotdb_make_room(c, call_bytes(c->driver, DEVICES_MAX, 0)))
        return fault_no_memory(fault);
    while (count > 0 && outcome == OUTCOME_OK) {
        const uint32_t part = count < DEVICES_MAX ? count : DEVICES_MAX;
        const struct iotdb_call call = iotdb_call_of(c, NULL);
        outcome = fly(c, iotdb_put_devices(c->bytes, &call, first, part), 1, fault);
        first += part;
        count -= part;
    }
    return outcome;
}

static enum outcome iotdb_sql(struct connection *c, const char *statement,
                              const struct result_sink *sink, struct fault *fault)
{
    const enum outcome outcome = iotdb_reach(&c->session, c->driver->setup, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!iotdb_make_room(c, call_bytes(c->driver, 0, 0) + strlen(statement)))
        return fault_no_memory(fault);
    const double within_s = c->driver->setup->spec->statement_timeout_s;
    const struct iotdb_statement asked = {.id = c->session.statement_id,
                                          .text = statement,
                                          .rows_max = (uint32_t)c->driver->page_rows,
                                          .within_ms = (int64_t)(within_s * 1000)};
    stream_deadline(&c->session.stream, deadline_after_s((uint32_t)within_s + 1));
    return iotdb_tell_answer(c, &asked, sink, fault);
}

static void iotdb_close(struct driver *d)
{
    iotdb_form_free(&d->form);
    free(d);
}

extern const struct driver_ops driver_iotdb;
const struct driver_ops driver_iotdb = {
    .abi = DRIVER_ABI,
    .name = "iotdb",
    .methods = methods,
    .options = options,
    .open = iotdb_open,
    .place = iotdb_place,
    .connect = iotdb_connect,
    .send = iotdb_send,
    .disconnect = iotdb_disconnect,
    .close = iotdb_close,
    .row_bytes = row_bytes,
    .table_name = iotdb_table_name,
    .create_tables = iotdb_create_tables,
    .sql = iotdb_sql,
    .check_ask = iotdb_check_ask,
    .prepare = iotdb_prepare,
    .ask = iotdb_ask,
};
