/* The driver of Cassandra, by CQL's native protocol version 4. A request's rows are unlogged
 * batches of a prepared statement, each of one device and partition, all sent before the first
 * answer is awaited. A NULL is "not set" and writes no tombstone. Answers to queries come in pages.
 * Options: batch_rows=100 and page_rows=5000, most rows of a batch and a page. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../batch.h"
#include "../marks.h"
#include "answer_value.h"
#include "ask_text.h"
#include "cql.h"
#include "driver.h"
#include "numbers.h"

enum { COLUMNS_ANSWERED_MAX = 4096 };

struct cassandra_columns {
    uint32_t count;
    uint16_t types[COLUMNS_ANSWERED_MAX]; /* enum cql_type, or an unknown one */
};

enum { BODY_BYTES = 1 << 22, IN_FLIGHT_MAX = 1024 };

struct driver {
    const struct driver_setup *setup;
    const char *host;
    uint16_t port;
    uint32_t first_column, column_count;
    uint64_t batch_rows, page_rows;
    char *insert;
};

struct connection {
    const struct driver *driver;
    struct stream stream;
    struct cql_id insert; /* the prepared statement */
    uint8_t *body; /* frames of the current request */
    uint32_t flown; /* batches of this piece of the request */
    uint32_t rows[IN_FLIGHT_MAX]; /* rows of each batch in flight */
    struct cassandra_ask *asks[OPERATIONS_MAX];
};

#define NOT_SET ((uint32_t)-2)

static const struct column *lacking_column(const struct schema *schema, uint32_t first,
                                           uint32_t count)
{
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        if (c->type == TYPE_UBIGINT || c->type == TYPE_VARBINARY || c->type == TYPE_GEOMETRY)
            return c;
    return NULL;
}

static uint64_t row_values_bytes(const struct schema *schema, uint32_t first, uint32_t count)
{
    uint64_t bytes = 2 + 4 + 1 + NUMBER_BYTES + 4 + 8;
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        bytes += 4 + (type_is_text(c->type) ? c->width : 8);
    return bytes;
}

static uint8_t *put8(uint8_t *out, uint8_t value)
{
    out = put_u32(out, 1);
    *out = value;
    return out + 1;
}

static uint8_t *put16(uint8_t *out, int16_t value)
{
    return put_u16(put_u32(out, 2), (uint16_t)value);
}

static uint8_t *put32(uint8_t *out, int32_t value)
{
    return put_u32(put_u32(out, 4), (uint32_t)value);
}

static uint8_t *put64(uint8_t *out, int64_t value)
{
    return put_u64(put_u32(out, 8), (uint64_t)value);
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, uint32_t length)
{
    out = put_u32(out, length);
    memcpy(out, bytes, length);
    return out + length;
}

static uint8_t *put_device(uint8_t *out, uint32_t table)
{
    char device[NUMBER_BYTES + 1] = "d";
    return put_bytes(out, device, (uint32_t)(put_unsigned(device + 1, table) - device));
}

#define VALUE(ctype) (((const ctype *)data->values)[row])

/* An unsigned number becomes the next larger signed one. */
static uint8_t *put_value(uint8_t *out, const struct column *column, const struct column_data *data,
                          uint32_t row)
{
    switch (column->type) {
    case TYPE_BOOL:
    case TYPE_TINYINT:
        return put8(out, VALUE(uint8_t));
    case TYPE_SMALLINT:
        return put16(out, VALUE(int16_t));
    case TYPE_UTINYINT:
        return put16(out, VALUE(uint8_t));
    case TYPE_INT:
    case TYPE_FLOAT: /* the bits of the float */
        return put32(out, VALUE(int32_t));
    case TYPE_USMALLINT:
        return put32(out, VALUE(uint16_t));
    case TYPE_UINT:
        return put64(out, VALUE(uint32_t));
    case TYPE_BINARY:
    case TYPE_NCHAR:
        return put_bytes(out, (const uint8_t *)data->values + (size_t)row * column->width,
                         (uint32_t)data->lengths[row]);
    default: /* bigint, timestamp, and the bits of a double */
        return put64(out, VALUE(int64_t));
    }
}

static uint8_t *put_row(uint8_t *out, const struct batch *batch, uint32_t table, uint32_t row)
{
    out = put_u16(out, (uint16_t)(2 + batch->column_count));
    out = put_device(out, table);
    out = put64(out, batch->times[row]);
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const uint32_t c = batch->first_column + i;
        const struct column_data *data = &batch->columns[c];
        out = data->nulls && data->nulls[row]
                  ? put_u32(out, NOT_SET)
                  : put_value(out, &batch->schema->columns[c], data, row);
    }
    return out;
}

/* 0: any length. */
static uint32_t bytes_of(uint16_t type)
{
    static const uint8_t bytes[] = {[CQL_BOOLEAN] = 1, [CQL_TINYINT] = 1, [CQL_SMALLINT] = 2,
                                    [CQL_INT] = 4,     [CQL_FLOAT] = 4,   [CQL_BIGINT] = 8,
                                    [CQL_COUNTER] = 8, [CQL_DOUBLE] = 8,  [CQL_TIMESTAMP] = 8};
    return type < sizeof bytes ? bytes[type] : 0;
}

static struct answer_value decode(uint16_t type, const uint8_t *value, uint32_t length)
{
    struct cql_reader reader = {value, value + length, false};
    const uint32_t four = length == 4 ? cql_read32(&reader) : 0;
    const uint64_t eight = length == 8 ? cql_read64(&reader) : 0;
    struct answer_value cell = {.kind = ANSWER_WHOLE, .whole = (int64_t)eight};
    float small;
    if (!value)
        return (struct answer_value){.kind = ANSWER_NULL};
    switch (type) {
    case CQL_BOOLEAN:
        cell.whole = *value != 0;
        break;
    case CQL_TINYINT:
        cell.whole = *value < 128 ? *value : *value - 256;
        break;
    case CQL_SMALLINT:
        cell.whole = (int16_t)cql_read16(&reader);
        break;
    case CQL_INT:
        cell.whole = (int32_t)four;
        break;
    case CQL_FLOAT:
        memcpy(&small, &four, sizeof small);
        cell.kind = ANSWER_FLOAT;
        cell.real = (double)small;
        break;
    case CQL_DOUBLE:
        memcpy(&cell.real, &eight, sizeof cell.real);
        cell.kind = ANSWER_DOUBLE;
        break;
    case CQL_TIMESTAMP:
        cell.whole = (int64_t)(eight * 1000000);
        break;
    case CQL_BIGINT:
    case CQL_COUNTER:
        break;
    default:
        cell = (struct answer_value){
            .kind = ANSWER_TEXT, .text = (const char *)value, .length = length};
    }
    return cell;
}

/* False: the rows do not match the announced columns. */
static bool take_rows(const struct cassandra_columns *columns, struct cql_reader *reader,
                      uint32_t rows, struct answer *answer)
{
    const bool is_read = answer_is_read(answer);
    for (uint32_t r = 0; r < rows; r++) {
        answer_begin_row(answer);
        for (uint32_t i = 0; i < columns->count; i++) {
            const int32_t length = (int32_t)cql_read32(reader);
            const uint8_t *value = length < 0 ? NULL : cql_read_bytes(reader, (size_t)length);
            const uint32_t wanted = bytes_of(columns->types[i]);
            if (reader->is_short || (value && wanted && wanted != (uint32_t)length))
                return false;
            if (is_read) {
                const struct answer_value cell =
                    decode(columns->types[i], value, value ? (uint32_t)length : 0);
                answer_take(answer, &cell);
            }
        }
        answer->rows++;
        answer->values += columns->count;
        answer_end_row(answer);
    }
    return reader->at == reader->end;
}

static enum outcome refused(const struct cql_answer *answer, struct fault *fault)
{
    char code[16];
    snprintf(code, sizeof code, "0x%04X", answer->code);
    if (answer->opcode == CQL_ERROR)
        return fault_set(fault, FAULT_SERVER, code, "%s", answer->words);
    return fault_set(fault, FAULT_SERVER, "PROTOCOL", "an answer of kind 0x%02X was not expected",
                     answer->opcode);
}

static enum outcome reach(struct connection *c, struct fault *fault)
{
    static const char startup[] = "\0\1\0\13CQL_VERSION\0\0053.0.0";
    const struct driver *d = c->driver;
    struct cql_answer answer;
    struct cql_reader reader;
    if (c->stream.fd >= 0)
        return OUTCOME_OK;
    if (!stream_open(&c->stream, d->host, d->port) ||
        !cql_ask(&c->stream, CQL_STARTUP, startup, sizeof startup - 1, false, &answer))
        return stream_fault_unsent(&c->stream, fault);
    if (answer.opcode == CQL_READY) {
        if (!cql_ask(&c->stream, CQL_PREPARE, d->insert, strlen(d->insert), true, &answer))
            return stream_fault(&c->stream, fault);
        if (cql_prepared(&answer, &c->insert, &reader))
            return OUTCOME_OK;
    }
    stream_close(&c->stream);
    return refused(&answer, fault);
}

static void cassandra_disconnect(struct connection *c)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        free(c->asks[i]);
    stream_free(&c->stream);
    free(c->body);
    free(c);
}

static enum outcome cassandra_connect(struct driver *d, uint32_t worker,
                                      struct connection **connection, struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->insert.length = 16; /* as a real one, where nothing is sent */
    c->body = malloc(BODY_BYTES);
    if (!c->body) {
        cassandra_disconnect(c);
        return fault_no_memory(fault);
    }
    if (!d->setup->is_sending_stubbed && reach(c, fault) != OUTCOME_OK) {
        cassandra_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

enum { VALUES = 1, SKIP_METADATA = 2, PAGE_SIZE = 4, PAGING_STATE = 8, CONSISTENCY_ONE = 1 };
enum { POSITION_MAX = 1 << 20 };

struct cassandra_ask { /* one operation on one connection */
    struct cql_id id;
    bool is_whole; /* the server refuses to page its answer */
    struct marks marks;
    uint16_t bound[PARAMETERS_MAX]; /* enum cql_type */
    struct cassandra_columns columns; /* columns of the answer */
};

static size_t cassandra_table_name(const struct driver *d, uint32_t table,
                                   char out[DRIVER_NAME_MAX])
{
    (void)d;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "d%" PRIu32, table);
}

/* Cassandra must sort rows of several partitions: then it refuses to page them. */
static bool is_sorted_together(const char *text)
{
    return strcasestr(text, " IN (") && strcasestr(text, " ORDER BY ");
}

static bool fits(enum mark mark, uint16_t type)
{
    if (mark == MARK_DEVICE || mark == MARK_AGAIN)
        return type == CQL_VARCHAR || type == CQL_ASCII;
    if (mark != MARK_VALUE)
        return type == CQL_TIMESTAMP || type == CQL_BIGINT;
    return type == CQL_DOUBLE || type == CQL_FLOAT || type == CQL_BIGINT || type == CQL_INT ||
           type == CQL_SMALLINT || type == CQL_TINYINT;
}

static const char *read_types(struct cassandra_ask *ask, struct cql_reader *reader)
{
    bool are_named;
    uint32_t n = 0;
    struct cql_metadata metadata = cql_read_metadata(reader, true, &are_named);
    if (reader->is_short || metadata.count != ask->marks.parameter_count)
        return "the server counts other parameters than the text has marks";
    for (uint32_t i = 0; i < ask->marks.count; i++) {
        const enum mark mark = ask->marks.pieces[i].mark;
        if (mark == MARK_NONE)
            continue;
        ask->bound[n] = cql_read_column(reader, are_named);
        if (!reader->is_short && !fits(mark, ask->bound[n]))
            return "a mark stands for a value of a type that it cannot have";
        n++;
    }
    metadata = cql_read_metadata(reader, false, &are_named);
    ask->columns.count = metadata.has_types ? metadata.count : 0;
    if (reader->is_short || ask->columns.count == 0)
        return "the statement answers no rows";
    if (ask->columns.count > COLUMNS_ANSWERED_MAX)
        return "the answer has too many columns";
    for (uint32_t i = 0; i < ask->columns.count; i++)
        ask->columns.types[i] = cql_read_column(reader, are_named);
    return reader->is_short ? "the answer to PREPARE ends too early" : NULL;
}

static enum outcome cassandra_check_ask(const struct driver *d, const struct marks *marks,
                                        const char *text, struct fault *fault)
{
    (void)d, (void)text;
    if (marks_count(marks, MARK_ITEM) || marks_count(marks, MARK_PART))
        return fault_spec(fault, "a prepared statement has no {item} and no {part}");
    return OUTCOME_OK;
}

static enum outcome cassandra_prepare(struct connection *c, uint32_t operation, const char *text,
                                      struct fault *fault)
{
    struct cassandra_ask *ask = calloc(1, sizeof *ask);
    struct cql_answer answer;
    struct cql_reader reader;
    char why[160];
    c->asks[operation] = ask;
    if (!ask)
        return fault_no_memory(fault);
    if (!marks_read(&ask->marks, text, why, sizeof why))
        return fault_spec(fault, "%s", why);
    ask->is_whole = is_sorted_together(text);
    char *statement = ask_statement(&ask->marks, false);
    if (!statement)
        return fault_no_memory(fault);
    const bool is_answered =
        cql_ask(&c->stream, CQL_PREPARE, statement, strlen(statement), true, &answer);
    free(statement);
    if (!is_answered)
        return stream_fault(&c->stream, fault);
    if (!cql_prepared(&answer, &ask->id, &reader)) {
        refused(&answer, fault);
        return OUTCOME_FATAL;
    }
    const char *wrong = read_types(ask, &reader);
    return wrong ? fault_spec(fault, "%s", wrong) : OUTCOME_OK;
}

/* The same whole numbers lie above both. */
static int64_t whole_below(double value, int bits)
{
    const double low = floor(value), most = ldexp(1, bits - 1);
    return low < -most   ? INT64_MIN >> (64 - bits)
           : low >= most ? INT64_MAX >> (64 - bits)
                         : (int64_t)low;
}

static uint8_t *put_bound(uint8_t *out, uint16_t type, double value)
{
    const float small = (float)value;
    int32_t four;
    int64_t eight;
    memcpy(&four, &small, sizeof four);
    memcpy(&eight, &value, sizeof eight);
    switch (type) {
    case CQL_FLOAT:
        return put32(out, four);
    case CQL_INT:
        return put32(out, (int32_t)whole_below(value, 32));
    case CQL_SMALLINT:
        return put16(out, (int16_t)whole_below(value, 16));
    case CQL_TINYINT:
        return put8(out, (uint8_t)whole_below(value, 8));
    case CQL_BIGINT:
        return put64(out, whole_below(value, 64));
    default:
        return put64(out, eight);
    }
}

static uint8_t *put_parameter(uint8_t *out, uint16_t type, const struct parameter *parameter)
{
    int64_t time;
    double value;
    if (parameter->is_table)
        return put_device(out, parameter->table);
    memcpy(&time, parameter->value, sizeof time);
    memcpy(&value, parameter->value, sizeof value);
    return parameter->type == TYPE_TIMESTAMP ? put64(out, time) : put_bound(out, type, value);
}

/* For the first page, or that at the position. */
static size_t put_request(const struct connection *c, const struct cassandra_ask *ask,
                          const struct parameter *parameters, const struct cql_metadata *page)
{
    uint8_t *out = c->body + CQL_HEAD_BYTES;
    const int pages = (ask->is_whole ? 0 : PAGE_SIZE) | (page->position ? PAGING_STATE : 0);
    out = put_u16(cql_put_id(out, &ask->id), CONSISTENCY_ONE);
    *out++ = (uint8_t)(VALUES | SKIP_METADATA | pages);
    out = put_u16(out, (uint16_t)ask->marks.parameter_count);
    for (uint32_t i = 0; i < ask->marks.parameter_count; i++)
        out = put_parameter(out, ask->bound[i], &parameters[i]);
    if (!ask->is_whole)
        out = put_u32(out, (uint32_t)c->driver->page_rows);
    if (page->position)
        out = put_bytes(out, page->position, page->position_length);
    const size_t length = (size_t)(out - c->body);
    cql_head(c->body, CQL_EXECUTE, 0, (uint32_t)(length - CQL_HEAD_BYTES));
    return length;
}

/* *page: the position of the next one. */
static enum outcome take_page(struct connection *c, const struct cassandra_ask *ask,
                              struct cql_metadata *page, struct answer *answer, struct fault *fault)
{
    struct cql_answer reply;
    struct cql_reader reader;
    bool are_named;
    if (!cql_read(&c->stream, &reply))
        return stream_fault(&c->stream, fault);
    if (!cql_result(&reply, CQL_ROWS, &reader))
        return refused(&reply, fault);
    answer->bytes += reply.length;
    *page = cql_read_metadata(&reader, false, &are_named);
    for (uint32_t i = 0; page->has_types && i < page->count && !reader.is_short; i++)
        cql_read_column(&reader, are_named);
    const uint32_t rows = cql_read32(&reader);
    if (!reader.is_short && page->count == ask->columns.count &&
        page->position_length <= POSITION_MAX && !(page->position && ask->is_whole) &&
        take_rows(&ask->columns, &reader, rows, answer))
        return OUTCOME_OK;
    stream_fail(&c->stream, "the server's rows are not what their head announces");
    return stream_fault(&c->stream, fault);
}

static enum outcome cassandra_ask(struct connection *c, uint32_t operation,
                                  const struct parameter *parameters, uint64_t deadline_ns,
                                  struct answer *answer, struct fault *fault)
{
    const struct cassandra_ask *ask = c->asks[operation];
    struct cql_metadata page = {0};
    stream_deadline(&c->stream, deadline_ns);
    enum outcome outcome = reach(c, fault);
    do {
        if (outcome != OUTCOME_OK)
            return outcome;
        if (!stream_write(&c->stream, c->body, put_request(c, ask, parameters, &page), NULL, 0))
            return stream_fault(&c->stream, fault);
        outcome = take_page(c, ask, &page, answer, fault);
    } while (outcome != OUTCOME_OK || page.position);
    answer->is_handed = answer->sink != NULL;
    return outcome;
}

enum { DEFAULT_PORT = 9042, STATEMENT_BYTES = 1 << 19 };

static const struct driver_method methods[] = {
    {"batch", FEATURE_DEADLINE | FEATURE_SEPARABLE, NULL}, {NULL, 0, NULL}};

static const char *const options[] = {"batch_rows", "page_rows", NULL};

static uint64_t row_bytes(const struct driver *d)
{
    return 3 + CQL_ID_MAX + row_values_bytes(d->setup->schema, d->first_column, d->column_count);
}

static bool write_insert(struct driver *d)
{
    const struct spec *spec = d->setup->spec;
    const struct column *columns = d->setup->schema->columns + d->first_column;
    size_t used;
    d->insert = malloc(STATEMENT_BYTES);
    if (!d->insert)
        return false;
    used = (size_t)snprintf(d->insert, STATEMENT_BYTES / 2, "INSERT INTO %s (device, ts",
                            spec->table ? spec->table : "scale.measurement");
    for (uint32_t i = 0; i < d->column_count; i++)
        used += (size_t)sprintf(d->insert + used, ", \"%s\"", columns[i].name);
    used += (size_t)sprintf(d->insert + used, ") VALUES (?, ?");
    for (uint32_t i = 0; i < d->column_count; i++)
        used += (size_t)sprintf(d->insert + used, ", ?");
    sprintf(d->insert + used, ")");
    return true;
}

static enum outcome cassandra_open(const struct driver_setup *setup, struct driver **driver,
                                   struct fault *fault)
{
    const struct spec *spec = setup->spec;
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->host = spec->host ? spec->host : "localhost";
    d->port = spec->port ? (uint16_t)spec->port : DEFAULT_PORT;
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count = spec_column_count(spec, setup->schema->column_count);
    d->batch_rows = 100;
    d->page_rows = 5000;
    if (!driver_option(spec, "batch_rows", 1, 65535, &d->batch_rows, fault) ||
        !driver_option(spec, "page_rows", 1, 1000000, &d->page_rows, fault))
        return OUTCOME_FATAL;
    if (spec->precision != PRECISION_MS)
        return fault_spec(fault, "precision: a timestamp of CQL has milliseconds only");
    const struct column *lacking = lacking_column(setup->schema, d->first_column, d->column_count);
    if (lacking)
        return fault_spec(fault, "columns: CQL has no type for %s:%s", lacking->name,
                          type_name(lacking->type));
    if (row_bytes(d) * d->batch_rows > BODY_BYTES / 2)
        return fault_spec(fault, "batch_rows: a batch of so many rows is too long");
    return write_insert(d) ? OUTCOME_OK : fault_no_memory(fault);
}

static uint8_t *put_batch(struct connection *c, const struct batch *batch,
                          const struct slice *slice, uint32_t first, uint32_t rows, uint8_t *out)
{
    uint8_t *const head = out;
    out += CQL_HEAD_BYTES;
    *out++ = 1; /* unlogged */
    out = put_u16(out, (uint16_t)rows);
    for (uint32_t i = 0; i < rows; i++) {
        *out++ = 1; /* a prepared statement */
        out = put_row(cql_put_id(out, &c->insert), batch, slice->table, slice->offset + first + i);
    }
    out = put_u16(out, 1); /* consistency ONE */
    *out++ = 0;              /* no flags */
    cql_head(head, CQL_BATCH, (uint16_t)c->flown, (uint32_t)(out - head) - CQL_HEAD_BYTES);
    c->rows[c->flown++] = rows;
    return out;
}

static enum outcome fly(struct connection *c, size_t length, uint64_t *rows_acked,
                        struct fault *fault)
{
    struct cql_answer answer;
    enum outcome outcome = OUTCOME_OK;
    const uint32_t flown = c->flown;
    uint64_t rows = 0;
    c->flown = 0;
    if (!c->driver->setup->is_sending_stubbed) {
        outcome = reach(c, fault);
        if (outcome != OUTCOME_OK)
            return outcome;
        if (!stream_write(&c->stream, c->body, length, NULL, 0))
            return stream_fault(&c->stream, fault);
        for (uint32_t i = 0; i < flown; i++) {
            if (!cql_read(&c->stream, &answer))
                return stream_fault(&c->stream, fault);
            if (answer.opcode != CQL_RESULT || answer.number >= flown)
                outcome = refused(&answer, fault);
        }
    }
    for (uint32_t i = 0; i < flown; i++)
        rows += c->rows[i];
    *rows_acked += outcome == OUTCOME_OK ? rows : 0;
    return outcome;
}

static enum outcome cassandra_send(struct connection *c, const struct batch *batch,
                                   uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    const uint64_t batch_rows = c->driver->batch_rows;
    const uint64_t most = row_bytes(c->driver) * batch_rows + 64;
    uint8_t *out = c->body;
    *rows_acked = 0;
    c->flown = 0;
    stream_deadline(&c->stream, deadline_ns);
    for (uint32_t s = 0; s < batch->slice_count; s++) {
        const struct slice *slice = &batch->slices[s];
        for (uint32_t first = 0; first < slice->rows;) {
            const uint32_t left = slice->rows - first;
            const uint32_t rows = left < batch_rows ? left : (uint32_t)batch_rows;
            if ((uint64_t)(c->body + BODY_BYTES - out) < most || c->flown == IN_FLIGHT_MAX) {
                const enum outcome outcome = fly(c, (size_t)(out - c->body), rows_acked, fault);
                if (outcome != OUTCOME_OK)
                    return outcome;
                out = c->body;
            }
            out = put_batch(c, batch, slice, first, rows, out);
            first += rows;
        }
    }
    return fly(c, (size_t)(out - c->body), rows_acked, fault);
}

static void cassandra_close(struct driver *d)
{
    free(d->insert);
    free(d);
}

const struct driver_ops driver_cassandra = {
    .abi = DRIVER_ABI,
    .name = "cassandra",
    .methods = methods,
    .options = options,
    .open = cassandra_open,
    .place = driver_place_in_turn,
    .connect = cassandra_connect,
    .send = cassandra_send,
    .disconnect = cassandra_disconnect,
    .close = cassandra_close,
    .row_bytes = row_bytes,
    .table_name = cassandra_table_name,
    .check_ask = cassandra_check_ask,
    .prepare = cassandra_prepare,
    .ask = cassandra_ask,
};
