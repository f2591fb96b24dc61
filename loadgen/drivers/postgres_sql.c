/* One SQL statement through libpq, row by row; see postgres.h. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

/* Object ids of the types whose text is also a JSON number. */
static bool is_number_type(unsigned type)
{
    switch (type) {
    case 20:   /* int8 */
    case 21:   /* int2 */
    case 23:   /* int4 */
    case 26:   /* oid */
    case 700:  /* float4 */
    case 701:  /* float8 */
    case 1700: /* numeric */
        return true;
    default:
        return false;
    }
}

static void tell_columns(const struct libpq *p, PGresult *result, const struct result_sink *sink)
{
    const int columns = p->column_count(result);
    for (int i = 0; i < columns; i++)
        sink->column(sink->context, p->column_name(result, i));
}

static void tell_rows(const struct libpq *p, PGresult *result, const struct result_sink *sink)
{
    const int rows = p->row_count(result), columns = p->column_count(result);
    for (int r = 0; r < rows; r++) {
        sink->row(sink->context);
        for (int i = 0; i < columns; i++) {
            const char *text = p->is_null(result, r, i) ? NULL : p->value(result, r, i);
            /* NaN and Infinity are no JSON */
            const bool is_number = text && is_number_type(p->column_type(result, i)) &&
                                   !isalpha((unsigned char)text[text[0] == '-']);
            sink->value(sink->context, text, text ? (size_t)p->length(result, r, i) : 0, is_number);
        }
    }
}

/* One of a statement's results. */
static enum outcome take_result(struct connection *c, PGresult *result, bool *has_columns,
                                const struct result_sink *sink, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    switch (p->result_status(result)) {
    case RES_SINGLE_TUPLE:
    case RES_TUPLES:
        if (!*has_columns)
            tell_columns(p, result, sink);
        *has_columns = true;
        tell_rows(p, result, sink);
        return OUTCOME_OK;
    case RES_COMMAND:
        sink->affected(sink->context, strtoull(p->tuples_done(result), NULL, 10));
        return OUTCOME_OK;
    case RES_EMPTY:
        return OUTCOME_OK;
    case RES_COPY_OUT:
        fault_set(fault, FAULT_SERVER, "COPY", "sql takes no rows of COPY ... TO STDOUT");
        return OUTCOME_ERROR;
    default:
        return postgres_fault(p, c->conn, result, fault);
    }
}

/* Reads off what a COPY TO STDOUT sends, so that the connection is good for the next statement. */
static void drop_copy(struct connection *c)
{
    const struct libpq *p = &c->driver->libpq;
    char *row = NULL;
    while (p->get_data(c->conn, &row, 0) > 0)
        p->free_data(row);
}

enum outcome postgres_sql(struct connection *c, const char *statement,
                          const struct result_sink *sink, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    enum outcome outcome = OUTCOME_OK;
    bool has_columns = false;
    PGresult *result;
    if (!p->send_query(c->conn, statement))
        return postgres_fault(p, c->conn, NULL, fault);
    p->single_row(c->conn);
    while ((result = p->get_result(c->conn)) != NULL) {
        if (p->result_status(result) == RES_COPY_IN)
            p->put_end(c->conn, "sql sends no rows");
        if (p->result_status(result) == RES_COPY_OUT)
            drop_copy(c);
        if (outcome == OUTCOME_OK)
            outcome = take_result(c, result, &has_columns, sink, fault);
        p->clear(result);
    }
    return outcome;
}
