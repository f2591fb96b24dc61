/* Queries of IoTDB: the text of an operation with its marks filled in, its answer in pages of
 * page_rows. Values are read where a digest or the content is wanted; nothing is allocated for
 * each. */
#include <stdio.h>
#include <stdlib.h>

#include "../marks.h"
#include "answer_value.h"
#include "iotdb_parts.h"
#include "numbers.h"

enum { VALUE_BYTES = DRIVER_NAME_MAX, CALL_BYTES = THRIFT_HEAD_BYTES + 256 };
#define WITHIN_MS 3600000 /* the server ends a query then */

struct iotdb_ask { /* one operation on one connection */
    struct marks marks;
    char *text; /* with space for all parameters */
    size_t size;
};

enum outcome iotdb_check_ask(const struct driver *d, const struct marks *marks, const char *text,
                             struct fault *fault)
{
    (void)d, (void)text;
    if (!marks_count(marks, MARK_ITEM))
        return OUTCOME_OK;
    fault_set(fault, FAULT_SPEC, "SPEC", "IoTDB has no {item}");
    return OUTCOME_FATAL;
}

enum outcome iotdb_prepare(struct connection *c, uint32_t operation, const char *text,
                           struct fault *fault)
{
    struct iotdb_ask *ask = calloc(1, sizeof *ask);
    char why[160];
    c->asks[operation] = ask;
    if (!ask)
        return fault_no_memory(fault);
    if (!marks_read(&ask->marks, text, why, sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return OUTCOME_FATAL;
    }
    ask->size = strlen(text) + 1 + ask->marks.parameter_count * VALUE_BYTES;
    ask->text = malloc(ask->size);
    return ask->text && iotdb_make_room(c, ask->size + CALL_BYTES) ? OUTCOME_OK
                                                                   : fault_no_memory(fault);
}

void iotdb_free_asks(struct connection *c)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++) {
        if (c->asks[i])
            free(c->asks[i]->text);
        free(c->asks[i]);
    }
}

static char *put_parameter(char *out, const struct driver *d, const struct parameter *parameter)
{
    int64_t time;
    double value;
    if (parameter->is_table)
        return out + iotdb_table_name(d, parameter->table, out);
    memcpy(&time, parameter->value, sizeof time);
    memcpy(&value, parameter->value, sizeof value);
    return parameter->type == TYPE_TIMESTAMP ? numbers_put_whole(out, time)
                                             : numbers_put_double(out, value);
}

static void fill(const struct iotdb_ask *ask, const struct driver *d,
                 const struct parameter *parameters)
{
    char *out = ask->text;
    for (uint32_t i = 0; i < ask->marks.count; i++) {
        const struct text_piece *piece = &ask->marks.pieces[i];
        memcpy(out, piece->plain, piece->length);
        out += piece->length;
        if (piece->mark != MARK_NONE)
            out = put_parameter(out, d, parameters++);
    }
    *out = '\0';
}

/* In the precision of the server. */
static struct answer_value time_of(int64_t ms)
{
    return (struct answer_value){.kind = ANSWER_WHOLE, .whole = ms * 1000000};
}

static struct answer_value found_of(enum iotdb_kind kind, const struct iotdb_value *value)
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

/* False where a value is not there, or of a type that is not read here. */
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
            struct answer_value found = {.kind = ANSWER_NULL};
            if (iotdb_is_present(&set->columns[i], row)) {
                if (!iotdb_take_value(&set->columns[i], &value))
                    return false;
                found = found_of(set->columns[i].kind, &value);
            }
            answer_take(answer, &found);
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

enum outcome iotdb_ask_page(struct connection *c, const struct iotdb_statement *asked,
                            struct iotdb_set *set, struct fault *fault)
{
    const bool is_first = !set->has_more;
    const struct iotdb_call call = iotdb_call_of(c, NULL);
    const uint8_t *end = is_first ? iotdb_put_statement(c->bytes, &call, asked)
                                  : iotdb_put_fetch(c->bytes, &call, asked, set->query);
    if (!stream_write(&c->session.stream, c->bytes, (size_t)(end - c->bytes), NULL, 0))
        return iotdb_broken(&c->session, fault);
    return is_first ? iotdb_read_set(&c->session, call.number, set, fault)
                    : iotdb_read_more(&c->session, call.number, asked->rows_max, set, fault);
}

enum outcome iotdb_ask(struct connection *c, uint32_t operation, const struct parameter *parameters,
                       uint64_t deadline_ns, struct answer *answer, struct fault *fault)
{
    const struct iotdb_ask *ask = c->asks[operation];
    struct iotdb_set set = {0};
    stream_deadline(&c->session.stream, deadline_ns);
    enum outcome outcome = iotdb_reach(&c->session, c->driver->setup, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    fill(ask, c->driver, parameters);
    const struct iotdb_statement asked = {.id = c->session.statement_id,
                                          .text = ask->text,
                                          .rows_max = (uint32_t)c->driver->page_rows,
                                          .within_ms = WITHIN_MS};
    do {
        outcome = iotdb_ask_page(c, &asked, &set, fault);
        if (outcome == OUTCOME_OK && !count(&set, answer))
            outcome = iotdb_cut(&c->session, fault);
    } while (outcome == OUTCOME_OK && set.has_more);
    iotdb_free_set(&set);
    answer->is_handed = answer->sink && outcome == OUTCOME_OK;
    return outcome;
}
