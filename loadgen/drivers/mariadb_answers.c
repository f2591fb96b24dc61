/* Queries of MariaDB: prepared statements in the binary protocol. Whole numbers, times and decimals
 * without a fraction are read as 64 bits, other numbers as doubles or floats. `time` and `bucket`
 * are ms since 1970. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../marks.h"
#include "answer_value.h"
#include "ask_text.h"
#include "mariadb.h"

enum { TEXT_MAX = 65536, UNSIGNED = 32, NO_DATA = 100, TRUNCATED = 101, NOT_PREPARED = 1295 };

#define NS_PER_MS 1000000ll

struct maria_answer { /* one operation on one connection */
    MYSQL_STMT *stmt;
    uint32_t count, columns;
    int64_t numbers[PARAMETERS_MAX];
    double reals[PARAMETERS_MAX];
    struct maria_bind binds[PARAMETERS_MAX];
    bool is_real[PARAMETERS_MAX];
    struct maria_bind *results;
    struct cell {
        union {
            int64_t whole;
            double real;
            float small;
        } value;
        char *text;
        unsigned long length;
        char is_null;
        bool is_time, is_unsigned;
    } *cells;
};

static void free_answer(const struct libmariadb *m, struct maria_answer *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; a->cells && i < a->columns; i++)
        free(a->cells[i].text);
    free(a->cells);
    free(a->results);
    if (a->stmt)
        m->stmt_close(a->stmt);
    free(a);
}

void maria_free_asks(struct connection *c)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        free_answer(&c->driver->library, c->asks[i]);
}

enum outcome maria_check_ask(const struct driver *d, const struct marks *marks, const char *text,
                             struct fault *fault)
{
    (void)d, (void)text;
    if (!marks_count(marks, MARK_ITEM))
        return OUTCOME_OK;
    return fault_spec(fault, "{item}: a prepared statement has no text of each request");
}

static bool bind_cell(const struct maria_field *field, struct cell *cell, struct maria_bind *bind)
{
    const bool is_decimal = field->type == MARIA_DECIMAL || field->type == MARIA_NEWDECIMAL;
    const bool is_whole = field->type == MARIA_TINY || field->type == MARIA_SHORT ||
                          field->type == MARIA_LONG || field->type == MARIA_LONGLONG ||
                          field->type == MARIA_INT24 || (is_decimal && field->decimals == 0);
    bind->is_null = &cell->is_null;
    bind->length = &cell->length;
    bind->buffer = &cell->value;
    if (is_whole) {
        cell->is_unsigned = !is_decimal && (field->flags & UNSIGNED);
        cell->is_time = strcmp(field->name, "time") == 0 || strcmp(field->name, "bucket") == 0;
        bind->type = MARIA_LONGLONG;
        bind->is_unsigned = cell->is_unsigned;
    } else if (field->type == MARIA_FLOAT) {
        bind->type = MARIA_FLOAT;
    } else if (is_decimal || field->type == MARIA_DOUBLE) {
        bind->type = MARIA_DOUBLE;
    } else {
        cell->text = malloc(TEXT_MAX);
        bind->type = MARIA_STRING;
        bind->buffer = cell->text;
        bind->buffer_length = TEXT_MAX;
        return cell->text != NULL;
    }
    return true;
}

static enum outcome bind_results(struct connection *c, struct maria_answer *a,
                                 const struct result_sink *names, struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    a->columns = m->stmt_columns(a->stmt);
    if (a->columns == 0)
        return OUTCOME_OK;
    MYSQL_RES *result = m->stmt_result(a->stmt);
    a->results = calloc(a->columns, sizeof *a->results);
    a->cells = calloc(a->columns, sizeof *a->cells);
    bool ok = result && a->results && a->cells;
    for (uint32_t i = 0; ok && i < a->columns; i++) {
        const struct maria_field *field = &m->fields(result)[i];
        ok = bind_cell(field, &a->cells[i], &a->results[i]);
        if (names)
            names->column(names->context, field->name);
    }
    if (result)
        m->free_result(result);
    return ok ? OUTCOME_OK : fault_no_memory(fault);
}

static void bind_marks(struct maria_answer *a, const struct marks *marks)
{
    for (uint32_t i = 0; i < marks->count; i++) {
        if (marks->pieces[i].mark == MARK_NONE)
            continue;
        a->is_real[a->count] = marks->pieces[i].mark == MARK_VALUE;
        a->binds[a->count] =
            a->is_real[a->count]
                ? (struct maria_bind){.type = MARIA_DOUBLE, .buffer = &a->reals[a->count]}
                : (struct maria_bind){.type = MARIA_LONGLONG, .buffer = &a->numbers[a->count]};
        a->count++;
    }
}

enum outcome maria_prepare(struct connection *c, uint32_t operation, const char *text,
                           struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    struct marks *marks = malloc(sizeof *marks);
    struct maria_answer *a = calloc(1, sizeof *a);
    char why[128] = "out of memory", *statement = NULL;
    c->asks[operation] = a;
    if (marks && a && marks_read(marks, text, why, sizeof why)) {
        bind_marks(a, marks);
        statement = ask_statement(marks, false);
    }
    free(marks);
    if (!statement || !(a->stmt = m->stmt_init(c->mysql))) {
        free(statement);
        return fault_spec(fault, "%s", why);
    }
    const int refused = maria_stmt_prepare(c, a->stmt, statement, strlen(statement));
    free(statement);
    if (refused)
        return maria_stmt_fault(c, a->stmt, fault);
    return bind_results(c, a, NULL, fault);
}

static struct answer_value value_of(const struct cell *cell, int type)
{
    if (cell->is_null)
        return (struct answer_value){.kind = ANSWER_NULL};
    switch (type) {
    case MARIA_FLOAT:
        return (struct answer_value){.kind = ANSWER_FLOAT, .real = (double)cell->value.small};
    case MARIA_DOUBLE:
        return (struct answer_value){.kind = ANSWER_DOUBLE, .real = cell->value.real};
    case MARIA_LONGLONG:
        return (struct answer_value){
            .kind = cell->is_unsigned ? ANSWER_UNSIGNED : ANSWER_WHOLE,
            .whole = cell->is_time ? cell->value.whole * NS_PER_MS : cell->value.whole};
    default:
        return (struct answer_value){
            .kind = ANSWER_TEXT, .text = cell->text, .length = cell->length};
    }
}

static void take_row(const struct maria_answer *a, struct answer *answer)
{
    answer->rows++;
    answer->values += a->columns;
    answer_begin_row(answer);
    for (uint32_t i = 0; i < a->columns; i++) {
        const struct answer_value value = value_of(&a->cells[i], a->results[i].type);
        answer->bytes += a->cells[i].text ? a->cells[i].length : sizeof a->cells[i].value;
        if (answer_is_read(answer))
            answer_take(answer, &value);
    }
    answer_end_row(answer);
}

static enum outcome take_rows(struct connection *c, struct maria_answer *a, struct answer *answer,
                              struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    int came;
    if (a->columns == 0)
        return OUTCOME_OK;
    if (m->stmt_bind_result(a->stmt, a->results))
        return maria_stmt_fault(c, a->stmt, fault);
    while ((came = maria_stmt_fetch(c, a->stmt)) == 0)
        take_row(a, answer);
    const enum outcome outcome = came == NO_DATA ? OUTCOME_OK : maria_stmt_fault(c, a->stmt, fault);
    if (came == TRUNCATED)
        fault_set(fault, FAULT_SERVER, "TRUNCATED", "a value does not fit into its type");
    m->stmt_free(a->stmt);
    return outcome;
}

enum outcome maria_ask(struct connection *c, uint32_t operation, const struct parameter *parameters,
                       uint64_t deadline_ns, struct answer *answer, struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    struct maria_answer *a = c->asks[operation];
    maria_begin(c, deadline_ns);
    for (uint32_t i = 0; i < a->count; i++) {
        if (parameters[i].is_table)
            a->numbers[i] = parameters[i].table + 1ll;
        else if (a->is_real[i])
            memcpy(&a->reals[i], parameters[i].value, sizeof a->reals[i]);
        else
            memcpy(&a->numbers[i], parameters[i].value, sizeof a->numbers[i]);
    }
    if ((a->count && m->stmt_bind(a->stmt, a->binds)) || maria_stmt_execute(c, a->stmt))
        return maria_stmt_fault(c, a->stmt, fault);
    answer->is_handed = answer->sink != NULL;
    return take_rows(c, a, answer, fault);
}

enum outcome maria_sql(struct connection *c, const char *statement, const struct result_sink *sink,
                       struct fault *fault)
{
    const struct libmariadb *m = &c->driver->library;
    struct maria_answer *a = calloc(1, sizeof *a);
    struct answer answer = {.sink = sink};
    if (!a || !(a->stmt = m->stmt_init(c->mysql))) {
        free(a);
        return fault_no_memory(fault);
    }
    enum outcome outcome = OUTCOME_OK;
    if (maria_stmt_prepare(c, a->stmt, statement, strlen(statement))) {
        const bool is_plain = m->stmt_error_number(a->stmt) == NOT_PREPARED;
        outcome = maria_stmt_fault(c, a->stmt, fault);
        if (is_plain)
            outcome =
                maria_query(c, statement, strlen(statement)) ? maria_fault(c, fault) : OUTCOME_OK;
        free_answer(m, a);
        return outcome;
    }
    outcome = bind_results(c, a, sink, fault);
    if (outcome == OUTCOME_OK && maria_stmt_execute(c, a->stmt))
        outcome = maria_stmt_fault(c, a->stmt, fault);
    else if (outcome == OUTCOME_OK && a->columns == 0)
        sink->affected(sink->context, m->stmt_affected(a->stmt));
    else if (outcome == OUTCOME_OK)
        outcome = take_rows(c, a, &answer, fault);
    free_answer(m, a);
    return outcome;
}
