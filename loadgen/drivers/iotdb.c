/* The driver of Apache IoTDB, by Thrift over framed TCP. A table is a device, database.d7. Methods:
 * `tablet`, a call for each slice, many in flight; `tablets`, all slices in one call; `records`,
 * row by row. `tables` creates devices from the template of the database. Options: aligned=1, if
 * the devices are aligned; page_rows=5000, rows of an answer read at once. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../deadline.h"
#include "../marks.h"
#include "answer_value.h"
#include "ask_text.h"
#include "iotdb_frames.h"
#include "iotdb_session.h"
#include "numbers.h"

enum iotdb_method { IOTDB_TABLET, IOTDB_TABLETS, IOTDB_RECORDS };

struct driver {
    const struct driver_setup *setup;
    struct iotdb_form form;
    enum iotdb_method method;
    uint64_t page_rows;
};

struct connection {
    const struct driver *driver;
    struct iotdb_session session;
    uint8_t *bytes; /* grows to the largest request */
    uint64_t size;
    struct iotdb_ask *asks[OPERATIONS_MAX];
};

/* Queries. Values are read for a digest or a sink only. */

enum { VALUE_BYTES = DRIVER_NAME_MAX, CALL_BYTES = THRIFT_HEAD_BYTES + 256 };

#define WITHIN_MS 3600000 /* then the server ends the query */

struct iotdb_ask { /* one operation on one connection */
    struct marks marks;
    char *text; /* with space for all parameters */
    size_t size;
};

static enum outcome iotdb_check_ask(const struct driver *d, const struct marks *marks,
                                    const char *text, struct fault *fault)
{
    (void)d, (void)text;
    if (!marks_count(marks, MARK_ITEM))
        return OUTCOME_OK;
    return fault_spec(fault, "IoTDB has no {item}");
}

static bool iotdb_make_room(struct connection *c, uint64_t bytes)
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

static enum outcome iotdb_prepare(struct connection *c, uint32_t operation, const char *text,
                                  struct fault *fault)
{
    struct iotdb_ask *ask = calloc(1, sizeof *ask);
    char why[160];
    c->asks[operation] = ask;
    if (!ask)
        return fault_no_memory(fault);
    if (!marks_read(&ask->marks, text, why, sizeof why))
        return fault_spec(fault, "%s", why);
    ask->size = strlen(text) + 1 + ask->marks.parameter_count * VALUE_BYTES;
    ask->text = malloc(ask->size);
    return ask->text && iotdb_make_room(c, ask->size + CALL_BYTES) ? OUTCOME_OK
                                                                   : fault_no_memory(fault);
}

static size_t iotdb_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    uint8_t name[4 + DRIVER_NAME_MAX];
    const uint8_t *end = iotdb_put_device(name, &d->form, table);
    memcpy(out, name + 4, (size_t)(end - name) - 4);
    return (size_t)(end - name) - 4;
}

static struct answer_value time_of(int64_t ms)
{
    return (struct answer_value){.kind = ANSWER_WHOLE, .whole = ms * 1000000};
}

static struct answer_value cell_of(enum iotdb_kind kind, const struct iotdb_value *value)
{
    switch (kind) {
    case IOTDB_FLOAT:
        return (struct answer_value){.kind = ANSWER_FLOAT, .real = value->real};
    case IOTDB_DOUBLE:
        return (struct answer_value){.kind = ANSWER_DOUBLE, .real = value->real};
    case IOTDB_TEXT:
    case IOTDB_BYTES:
        return (struct answer_value){
            .kind = ANSWER_TEXT, .text = value->text.bytes, .length = value->text.length};
    case IOTDB_TIME:
        return time_of(value->whole);
    default:
        return (struct answer_value){.kind = ANSWER_WHOLE, .whole = value->whole};
    }
}

/* False: a value is missing, or of an unknown type. */
static bool take_rows(struct iotdb_set *set, uint64_t rows, struct answer *answer)
{
    for (uint64_t row = 0; row < rows; row++) {
        answer_begin_row(answer);
        if (set->has_times) {
            const struct answer_value time = time_of((int64_t)thrift_take64(&set->times));
            answer_take(answer, &time);
        }
        for (uint32_t i = 0; i < set->column_count; i++) {
            struct iotdb_value value = {0};
            struct answer_value cell = {.kind = ANSWER_NULL};
            if (iotdb_is_present(&set->columns[i], row)) {
                if (!iotdb_take_value(&set->columns[i], &value))
                    return false;
                cell = cell_of(set->columns[i].kind, &value);
            }
            answer_take(answer, &cell);
        }
        answer_end_row(answer);
    }
    return true;
}

static bool count(struct iotdb_set *set, struct answer *answer)
{
    const uint64_t rows = iotdb_set_rows(set);
    answer->rows += rows;
    answer->values += rows * (set->column_count + (set->has_times ? 1 : 0));
    answer->bytes += iotdb_set_bytes(set);
    return !answer_is_read(answer) || take_rows(set, rows, answer);
}

static struct iotdb_call iotdb_call_of(struct connection *c, const struct batch *batch)
{
    return (struct iotdb_call){.form = &c->driver->form,
                               .batch = batch,
                               .session = c->session.id,
                               .number = c->session.calls++};
}

/* The first page if the set is {0}, else the next; has_more: another may follow. */
static enum outcome iotdb_ask_page(struct connection *c, const struct iotdb_statement *statement,
                                   struct iotdb_set *set, struct fault *fault)
{
    const bool is_first = !set->has_more;
    const struct iotdb_call call = iotdb_call_of(c, NULL);
    const uint8_t *end = is_first ? iotdb_put_statement(c->bytes, &call, statement)
                                  : iotdb_put_fetch(c->bytes, &call, statement, set->query);
    if (!stream_write(&c->session.stream, c->bytes, (size_t)(end - c->bytes), NULL, 0))
        return stream_fault(&c->session.stream, fault);
    return is_first ? iotdb_read_set(&c->session, call.number, set, fault)
                    : iotdb_read_more(&c->session, call.number, statement->rows_max, set, fault);
}

static enum outcome iotdb_ask(struct connection *c, uint32_t operation,
                              const struct parameter *parameters, uint64_t deadline_ns,
                              struct answer *answer, struct fault *fault)
{
    const struct iotdb_ask *ask = c->asks[operation];
    struct iotdb_set set = {0};
    stream_deadline(&c->session.stream, deadline_ns);
    enum outcome outcome = iotdb_reach(&c->session, c->driver->setup, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    ask_fill(ask->text, &ask->marks, parameters, c->driver, iotdb_table_name);
    const struct iotdb_statement statement = {.id = c->session.statement_id,
                                              .text = ask->text,
                                              .rows_max = (uint32_t)c->driver->page_rows,
                                              .within_ms = WITHIN_MS};
    do {
        outcome = iotdb_ask_page(c, &statement, &set, fault);
        if (outcome == OUTCOME_OK && !count(&set, answer))
            outcome = iotdb_cut(&c->session, fault);
    } while (outcome == OUTCOME_OK && set.has_more);
    iotdb_free_set(&set);
    answer->is_handed = answer->sink && outcome == OUTCOME_OK;
    return outcome;
}

enum { TEXT_BYTES = 40, NAME_BYTES = 256 };

static void pass_number(const struct result_sink *sink, double value, int digits)
{
    char text[TEXT_BYTES];
    const int length = snprintf(text, sizeof text, "%.*g", digits, value);
    sink->value(sink->context, text, (size_t)length, isfinite(value));
}

static void pass_whole(const struct result_sink *sink, int64_t value)
{
    char text[TEXT_BYTES];
    const int length = snprintf(text, sizeof text, "%" PRId64, value);
    sink->value(sink->context, text, (size_t)length, true);
}

/* False: missing, or of an unknown type. */
static bool pass_value(struct iotdb_column *column, const struct result_sink *sink)
{
    struct iotdb_value value = {0};
    if (!iotdb_take_value(column, &value) || column->kind == IOTDB_BYTES)
        return false;
    if (column->kind == IOTDB_FLOAT)
        pass_number(sink, value.real, 9);
    else if (column->kind == IOTDB_DOUBLE)
        pass_number(sink, value.real, 17);
    else if (column->kind == IOTDB_BOOL)
        sink->value(sink->context, value.whole ? "true" : "false", value.whole ? 4 : 5, false);
    else if (column->kind == IOTDB_TEXT)
        sink->value(sink->context, value.text.bytes, value.text.length, false);
    else
        pass_whole(sink, value.whole);
    return true;
}

static void pass_columns(const struct iotdb_set *set, const struct result_sink *sink)
{
    char name[NAME_BYTES];
    if (set->has_times)
        sink->column(sink->context, "Time");
    for (uint32_t i = 0; i < set->column_count; i++) {
        const struct thrift_text *label = &set->columns[i].name;
        snprintf(name, sizeof name, "%.*s",
                 (int)(label->length < sizeof name ? label->length : NAME_BYTES - 1), label->bytes);
        sink->column(sink->context, name);
    }
}

static bool pass_rows(struct iotdb_set *set, const struct result_sink *sink)
{
    const uint64_t rows = iotdb_set_rows(set);
    for (uint64_t row = 0; row < rows; row++) {
        sink->row(sink->context);
        if (set->has_times)
            pass_whole(sink, (int64_t)thrift_take64(&set->times));
        for (uint32_t i = 0; i < set->column_count; i++)
            if (!iotdb_is_present(&set->columns[i], row))
                sink->value(sink->context, NULL, 0, false);
            else if (!pass_value(&set->columns[i], sink))
                return false;
    }
    return true;
}

static enum outcome iotdb_pass_answer(struct connection *c, const struct iotdb_statement *statement,
                                      const struct result_sink *sink, struct fault *fault)
{
    struct iotdb_set set = {0};
    enum outcome outcome;
    do {
        const bool is_first = !set.has_more;
        outcome = iotdb_ask_page(c, statement, &set, fault);
        if (outcome != OUTCOME_OK || set.part_count == 0)
            break;
        if (is_first)
            pass_columns(&set, sink);
        if (!pass_rows(&set, sink))
            outcome = iotdb_cut(&c->session, fault);
    } while (outcome == OUTCOME_OK && set.has_more);
    iotdb_free_set(&set);
    return outcome;
}

enum { IN_FLIGHT_MAX = 128, DEVICES_MAX = 1000, PAGE_ROWS = 5000, PAGE_ROWS_MAX = 1000000 };
enum { FIELDS_BYTES = 256 }; /* bytes besides slices and text */

/* A server takes frames of 512 MiB. */
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
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->method = *(const enum iotdb_method *)setup->method->form;
    d->page_rows = PAGE_ROWS;
    if (!driver_option(spec, "aligned", 0, 1, &is_aligned, fault) ||
        !driver_option(spec, "page_rows", 1, PAGE_ROWS_MAX, &d->page_rows, fault))
        return OUTCOME_FATAL;
    if (!iotdb_form_init(&d->form, spec, setup->schema))
        return fault_no_memory(fault);
    d->form.is_aligned = is_aligned;
    const struct column *lacking =
        iotdb_lacks(setup->schema, d->form.first_column, d->form.column_count);
    if (lacking)
        return fault_spec(fault, "columns: IoTDB has no type for %s:%s", lacking->name,
                          type_name(lacking->type));
    const uint64_t slices =
        spec->interlace_rows ? spec->rows_per_request / spec->interlace_rows + 1 : 1;
    if (call_bytes(d, slices, spec->rows_per_request) > FRAME_BYTES)
        return fault_spec(fault, "rows_per_request: a call of so many rows is too long");
    return OUTCOME_OK;
}

static void iotdb_disconnect(struct connection *c)
{
    iotdb_leave(&c->session);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        if (c->asks[i])
            free(c->asks[i]->text);
        free(c->asks[i]);
    }
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

/* Reads all answers to the last `count` calls, also after a refused one. */
static enum outcome fly(struct connection *c, const uint8_t *end, uint32_t count,
                        struct fault *fault)
{
    const uint32_t first = c->session.calls - count;
    enum outcome outcome = OUTCOME_OK;
    struct fault other;
    if (c->driver->setup->is_sending_stubbed)
        return OUTCOME_OK;
    if (!stream_write(&c->session.stream, c->bytes, (size_t)(end - c->bytes), NULL, 0))
        return stream_fault(&c->session.stream, fault);
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

static enum outcome iotdb_sql(struct connection *c, const char *text,
                              const struct result_sink *sink, struct fault *fault)
{
    const enum outcome outcome = iotdb_reach(&c->session, c->driver->setup, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (!iotdb_make_room(c, call_bytes(c->driver, 0, 0) + strlen(text)))
        return fault_no_memory(fault);
    const double within_s = c->driver->setup->spec->statement_timeout_s;
    const struct iotdb_statement statement = {.id = c->session.statement_id,
                                              .text = text,
                                              .rows_max = (uint32_t)c->driver->page_rows,
                                              .within_ms = (int64_t)(within_s * 1000)};
    stream_deadline(&c->session.stream, deadline_after_s((uint32_t)within_s + 1));
    return iotdb_pass_answer(c, &statement, sink, fault);
}

static void iotdb_close(struct driver *d)
{
    iotdb_form_free(&d->form);
    free(d);
}

const struct driver_ops driver_iotdb = {
    .abi = DRIVER_ABI,
    .name = "iotdb",
    .methods = methods,
    .options = options,
    .open = iotdb_open,
    .place = driver_place_in_turn,
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
