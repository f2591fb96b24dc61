/* Queries of Cassandra: each operation is a prepared statement whose marks are bound values. The
 * answer comes in pages, all of which are read. Nothing is allocated here but at `prepare`. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../marks.h"
#include "cassandra_answer.h"
#include "cassandra_parts.h"
#include "numbers.h"

enum { VALUES = 1, SKIP_METADATA = 2, PAGE_SIZE = 4, PAGING_STATE = 8, CONSISTENCY_ONE = 1 };
enum { POSITION_MAX = 1 << 20 };

struct cassandra_ask { /* one operation on one connection */
    struct cql_id id;
    bool is_whole; /* the server refuses pages of its answer */
    struct marks marks;
    uint16_t bound[PARAMETERS_MAX]; /* of enum cql_type */
    struct cassandra_columns columns; /* of the answer */
};

size_t cassandra_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    (void)d;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "d%" PRIu32, table);
}

static enum outcome wrong_text(struct fault *fault, const char *why)
{
    fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
    return OUTCOME_FATAL;
}

/* The statement with a question mark for each mark; NULL when memory is short. */
static char *statement_of(const struct marks *marks)
{
    size_t size = 1, used = 0;
    for (uint32_t i = 0; i < marks->count; i++)
        size += marks->pieces[i].length + 1;
    char *text = malloc(size);
    for (uint32_t i = 0; text && i < marks->count; i++) {
        memcpy(text + used, marks->pieces[i].plain, marks->pieces[i].length);
        used += marks->pieces[i].length;
        if (marks->pieces[i].mark != MARK_NONE)
            text[used++] = '?';
    }
    if (text)
        text[used] = '\0';
    return text;
}

/* Cassandra sorts the rows of several partitions, and then refuses to page them. */
static bool is_sorted_together(const char *text)
{
    return strcasestr(text, " IN (") && strcasestr(text, " ORDER BY ");
}

/* Whether a mark's value can be bound as this type. */
static bool fits(enum mark mark, uint16_t type)
{
    if (mark == MARK_DEVICE || mark == MARK_AGAIN)
        return type == CQL_VARCHAR || type == CQL_ASCII;
    if (mark != MARK_VALUE)
        return type == CQL_TIMESTAMP || type == CQL_BIGINT;
    return type == CQL_DOUBLE || type == CQL_FLOAT || type == CQL_BIGINT || type == CQL_INT ||
           type == CQL_SMALLINT || type == CQL_TINYINT;
}

/* The types of what is bound and of what is answered. */
static const char *read_types(struct cassandra_ask *ask, struct cql_reader *reader)
{
    bool are_named;
    uint32_t n = 0;
    struct cql_metadata found = cql_read_metadata(reader, true, &are_named);
    if (reader->is_short || found.count != ask->marks.parameter_count)
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
    found = cql_read_metadata(reader, false, &are_named);
    ask->columns.count = found.has_types ? found.count : 0;
    if (reader->is_short || ask->columns.count == 0)
        return "the statement answers no rows";
    if (ask->columns.count > CASSANDRA_COLUMNS_MAX)
        return "the answer has too many columns";
    for (uint32_t i = 0; i < ask->columns.count; i++)
        ask->columns.types[i] = cql_read_column(reader, are_named);
    return reader->is_short ? "the answer to PREPARE ends too early" : NULL;
}

enum outcome cassandra_check_ask(const struct driver *d, const struct marks *marks,
                                 const char *text, struct fault *fault)
{
    (void)d, (void)text;
    if (marks_count(marks, MARK_ITEM) || marks_count(marks, MARK_PART))
        return wrong_text(fault, "a prepared statement has no {item} and no {part}");
    return OUTCOME_OK;
}

enum outcome cassandra_prepare(struct connection *c, uint32_t operation, const char *text,
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
        return wrong_text(fault, why);
    ask->is_whole = is_sorted_together(text);
    char *statement = statement_of(&ask->marks);
    if (!statement)
        return fault_no_memory(fault);
    const bool is_answered =
        cql_ask(&c->stream, CQL_PREPARE, statement, strlen(statement), true, &answer);
    free(statement);
    if (!is_answered)
        return cassandra_broken(&c->stream, fault);
    if (!cql_prepared(&answer, &ask->id, &reader)) {
        cassandra_refused(&answer, fault);
        return OUTCOME_FATAL;
    }
    const char *wrong = read_types(ask, &reader);
    return wrong ? wrong_text(fault, wrong) : OUTCOME_OK;
}

void cassandra_free_asks(struct connection *c)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        free(c->asks[i]);
}

/* Above a bound lie the same whole numbers as above the whole number below it. */
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
    uint32_t four;
    uint64_t eight;
    memcpy(&four, &small, sizeof four);
    memcpy(&eight, &value, sizeof eight);
    switch (type) {
    case CQL_FLOAT:
        return cql_put32(cql_put32(out, 4), four);
    case CQL_INT:
        return cql_put32(cql_put32(out, 4), (uint32_t)whole_below(value, 32));
    case CQL_SMALLINT:
        return cql_put16(cql_put32(out, 2), (uint16_t)whole_below(value, 16));
    case CQL_TINYINT:
        out = cql_put32(out, 1);
        *out = (uint8_t)whole_below(value, 8);
        return out + 1;
    case CQL_BIGINT:
        eight = (uint64_t)whole_below(value, 64);
        break;
    default:
        break;
    }
    return cql_put64(cql_put32(out, 8), eight);
}

static uint8_t *put_parameter(uint8_t *out, uint16_t type, const struct parameter *parameter)
{
    char device[NUMBER_BYTES + 1] = "d";
    int64_t time;
    double value;
    if (parameter->is_table) {
        const size_t length = (size_t)(numbers_put_unsigned(device + 1, parameter->table) - device);
        out = cql_put32(out, (uint32_t)length);
        memcpy(out, device, length);
        return out + length;
    }
    memcpy(&time, parameter->value, sizeof time);
    memcpy(&value, parameter->value, sizeof value);
    if (parameter->type == TYPE_TIMESTAMP)
        return cql_put64(cql_put32(out, 8), (uint64_t)time);
    return put_bound(out, type, value);
}

/* A frame that asks for the first page, or for that at the position. Returns its length. */
static size_t put_request(const struct connection *c, const struct cassandra_ask *ask,
                          const struct parameter *parameters, const struct cql_metadata *page)
{
    uint8_t *out = c->body + CQL_HEAD_BYTES;
    const int pages = (ask->is_whole ? 0 : PAGE_SIZE) | (page->position ? PAGING_STATE : 0);
    out = cql_put16(cql_put_id(out, &ask->id), CONSISTENCY_ONE);
    *out++ = (uint8_t)(VALUES | SKIP_METADATA | pages);
    out = cql_put16(out, (uint16_t)ask->marks.parameter_count);
    for (uint32_t i = 0; i < ask->marks.parameter_count; i++)
        out = put_parameter(out, ask->bound[i], &parameters[i]);
    if (!ask->is_whole)
        out = cql_put32(out, (uint32_t)c->driver->page_rows);
    if (page->position) {
        out = cql_put32(out, page->position_length);
        memcpy(out, page->position, page->position_length);
        out += page->position_length;
    }
    const size_t length = (size_t)(out - c->body);
    cql_head(c->body, CQL_EXECUTE, 0, (uint32_t)(length - CQL_HEAD_BYTES));
    return length;
}

/* Reads one page; *page says whether there is another one. */
static enum outcome take_page(struct connection *c, const struct cassandra_ask *ask,
                              struct cql_metadata *page, struct answer *answer, struct fault *fault)
{
    struct cql_answer said;
    struct cql_reader reader;
    bool are_named;
    if (!cql_read(&c->stream, &said))
        return cassandra_broken(&c->stream, fault);
    if (!cql_result(&said, CQL_ROWS, &reader))
        return cassandra_refused(&said, fault);
    answer->bytes += said.length;
    *page = cql_read_metadata(&reader, false, &are_named);
    for (uint32_t i = 0; page->has_types && i < page->count && !reader.is_short; i++)
        cql_read_column(&reader, are_named);
    const uint32_t rows = cql_read32(&reader);
    if (!reader.is_short && page->count == ask->columns.count &&
        page->position_length <= POSITION_MAX && !(page->position && ask->is_whole) &&
        cassandra_take_rows(&ask->columns, &reader, rows, answer))
        return OUTCOME_OK;
    stream_fail(&c->stream, "the server's rows are not what their head announces");
    return cassandra_broken(&c->stream, fault);
}

enum outcome cassandra_ask(struct connection *c, uint32_t operation,
                           const struct parameter *parameters, uint64_t deadline_ns,
                           struct answer *answer, struct fault *fault)
{
    const struct cassandra_ask *ask = c->asks[operation];
    struct cql_metadata page = {0};
    stream_deadline(&c->stream, deadline_ns);
    enum outcome outcome = cassandra_reach(c, fault);
    do {
        if (outcome != OUTCOME_OK)
            return outcome;
        if (!stream_write(&c->stream, c->body, put_request(c, ask, parameters, &page), NULL, 0))
            return cassandra_broken(&c->stream, fault);
        outcome = take_page(c, ask, &page, answer, fault);
    } while (outcome != OUTCOME_OK || page.position);
    answer->is_handed = answer->sink != NULL;
    return outcome;
}
