/* Queries through libpq: each operation is a prepared statement whose marks are $1, $2, ..., and
 * parameters and answers are binary. Of a value its length is read and, for a digest, its bytes;
 * nothing is allocated here but at `prepare`. What libpq holds of an answer at once is bounded: an
 * operation that may have large ones is read row by row. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../digest.h"
#include "../marks.h"
#include "pg_values.h"
#include "postgres.h"
#include "postgres_content.h"

enum {
    WHOLE_ROWS_MAX = 10000 /* an answer is taken in whole where the last was no longer */
};

#define GRACE_NS 1000000000ull /* for the server to say that it has ended a query */

struct postgres_ask { /* one operation on one connection */
    char name[16];
    bool is_whole; /* its answers are taken in whole */
    int count;
    uint8_t bytes[PARAMETERS_MAX][8]; /* of the parameters, most significant first */
    const char *values[PARAMETERS_MAX];
    int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
    unsigned types[PARAMETERS_MAX];
};

static unsigned type_of(enum mark mark)
{
    if (mark == MARK_DEVICE || mark == MARK_AGAIN)
        return OID_INT4;
    return mark == MARK_VALUE ? OID_FLOAT8 : OID_TIMESTAMPTZ;
}

/* The statement with $n for its marks; NULL when memory is short. */
static char *fill(struct postgres_ask *ask, const struct marks *marks)
{
    size_t size = 1, used = 0;
    for (uint32_t i = 0; i < marks->count; i++)
        size += marks->pieces[i].length + 8;
    char *text = malloc(size);
    for (uint32_t i = 0; text && i < marks->count; i++) {
        const struct text_piece *piece = &marks->pieces[i];
        memcpy(text + used, piece->plain, piece->length);
        used += piece->length;
        if (piece->mark == MARK_NONE)
            continue;
        const int n = ask->count++;
        ask->types[n] = type_of(piece->mark);
        ask->lengths[n] = ask->types[n] == OID_INT4 ? 4 : 8;
        ask->formats[n] = FORMAT_BINARY;
        ask->values[n] = (const char *)ask->bytes[n];
        used += (size_t)sprintf(text + used, "$%d", ask->count);
    }
    if (text)
        text[used] = '\0';
    return text;
}

/* Lets the server end a query that is late: then the connection stays good. */
static enum outcome limit_time(struct connection *c, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    const double ms = c->driver->setup->spec->request_timeout_s * 1e3;
    char text[64];
    snprintf(text, sizeof text, "SET statement_timeout = %.0f", ms > 1 ? ms : 1);
    PGresult *result = p->exec(c->conn, text);
    const enum outcome outcome = p->result_status(result) == RES_COMMAND
                                     ? OUTCOME_OK
                                     : postgres_fault(p, c->conn, result, fault);
    p->clear(result);
    return outcome;
}

enum outcome postgres_check_ask(const struct driver *d, const struct marks *marks, const char *text,
                                struct fault *fault)
{
    (void)d, (void)text;
    if (!marks_count(marks, MARK_ITEM))
        return OUTCOME_OK;
    fault_set(fault, FAULT_SPEC, "SPEC",
              "{item}: a prepared statement has no text of each request");
    return OUTCOME_FATAL;
}

enum outcome postgres_prepare(struct connection *c, uint32_t operation, const char *text,
                              struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    struct marks *marks = malloc(sizeof *marks);
    struct postgres_ask *ask = calloc(1, sizeof *ask);
    char why[128] = "out of memory", *statement = NULL;
    enum outcome outcome = OUTCOME_FATAL;
    c->asks[operation] = ask;
    if (marks && ask && marks_read(marks, text, why, sizeof why))
        statement = fill(ask, marks);
    free(marks);
    if (!statement) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return outcome;
    }
    snprintf(ask->name, sizeof ask->name, "ask%u", (unsigned)operation);
    PGresult *result = p->prepare(c->conn, ask->name, statement, ask->count, ask->types);
    outcome = p->result_status(result) == RES_COMMAND ? OUTCOME_OK
                                                      : postgres_fault(p, c->conn, result, fault);
    p->clear(result);
    free(statement);
    if (outcome == OUTCOME_OK && c->driver->setup->spec->request_timeout_s > 0)
        outcome = limit_time(c, fault);
    return outcome;
}

static void bind(const struct connection *c, struct postgres_ask *ask,
                 const struct parameter *parameters)
{
    const struct us_ratio us = pg_us_ratio(c->driver->setup->spec);
    for (int i = 0; i < ask->count; i++) {
        const struct parameter *parameter = &parameters[i];
        uint64_t bits;
        if (parameter->is_table) {
            put_u32(ask->bytes[i], c->driver->device_of[parameter->table]);
            continue;
        }
        memcpy(&bits, parameter->value, sizeof bits);
        if (parameter->type == TYPE_TIMESTAMP)
            bits = (uint64_t)pg_us(&us, (int64_t)bits);
        put_u64(ask->bytes[i], bits);
    }
}

static uint64_t digest_value(uint64_t digest, unsigned type, const char *value, int length)
{
    uint64_t eight = 0;
    uint32_t four = 0;
    uint16_t two = 0;
    double real;
    float small;
    memcpy(&eight, value, length == 8 ? 8 : 0);
    memcpy(&four, value, length == 4 ? 4 : 0);
    memcpy(&two, value, length == 2 ? 2 : 0);
    eight = be64toh(eight);
    four = be32toh(four);
    switch (type) {
    case OID_BOOL:
        return digest_word(digest, (uint8_t)*value);
    case OID_INT2:
        return digest_word(digest, (uint64_t)(int16_t)be16toh(two));
    case OID_INT4:
        return digest_word(digest, (uint64_t)(int32_t)four);
    case OID_INT8:
        return digest_word(digest, eight);
    case OID_FLOAT4:
        memcpy(&small, &four, sizeof small);
        return digest_real(digest, (double)small);
    case OID_FLOAT8:
        memcpy(&real, &eight, sizeof real);
        return digest_real(digest, real);
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        return digest_word(digest, (eight + EPOCH_US) * 1000);
    default:
        return digest_text(digest, value, (size_t)length);
    }
}

static void digest_rows(const struct libpq *p, const PGresult *result, int rows, int columns,
                        struct answer *answer)
{
    for (int r = 0; r < rows; r++) {
        for (int i = 0; i < columns; i++)
            answer->digest = p->is_null(result, r, i)
                                 ? digest_word(answer->digest, DIGEST_NULL)
                                 : digest_value(answer->digest, p->column_type(result, i),
                                                p->value(result, r, i), p->length(result, r, i));
        answer->digest = digest_word(answer->digest, DIGEST_ROW);
    }
}

static void count_rows(const struct libpq *p, const PGresult *result, struct answer *answer)
{
    const int rows = p->row_count(result), columns = p->column_count(result);
    uint64_t bytes = 0;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < columns; i++)
            bytes += (uint64_t)p->length(result, r, i);
    answer->rows += (uint64_t)rows;
    answer->values += (uint64_t)rows * (uint64_t)columns;
    answer->bytes += bytes;
    if (answer->wants_digest)
        digest_rows(p, result, rows, columns, answer);
    if (answer->sink)
        postgres_hand_rows(p, result, answer->sink);
}

/* Reads everything off the connection, so that it is good for the next query. */
static enum outcome take_answer(struct connection *c, struct answer *answer, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    enum outcome outcome = OUTCOME_OK;
    PGresult *result;
    while ((result = postgres_next_result(c)) != NULL) {
        const int status = p->result_status(result);
        if (status == RES_TUPLES || status == RES_SINGLE_TUPLE)
            count_rows(p, result, answer);
        else if (status != RES_COMMAND && outcome == OUTCOME_OK)
            outcome = postgres_fault(p, c->conn, result, fault);
        p->clear(result);
    }
    if (c->is_late)
        return fault_late(fault, "the query was sent, and its answer did not end");
    if (p->status(c->conn) == CONNECTION_GOOD)
        return outcome;
    return outcome == OUTCOME_OK ? postgres_fault(p, c->conn, NULL, fault) : OUTCOME_FATAL;
}

enum outcome postgres_ask(struct connection *c, uint32_t operation,
                          const struct parameter *parameters, uint64_t deadline_ns,
                          struct answer *answer, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    struct postgres_ask *ask = c->asks[operation];
    bind(c, ask, parameters);
    if (!postgres_begin(c, deadline_ns ? deadline_ns + GRACE_NS : 0) ||
        !p->send_prepared(c->conn, ask->name, ask->count, ask->values, ask->lengths, ask->formats,
                          FORMAT_BINARY))
        return postgres_fault(p, c->conn, NULL, fault);
    if (!ask->is_whole)
        p->single_row(c->conn);
    if (!postgres_flush(c)) {
        if (c->is_late)
            return fault_late(fault, "the server did not take the query");
        return postgres_fault(p, c->conn, NULL, fault);
    }
    answer->is_handed = answer->sink != NULL;
    const enum outcome outcome = take_answer(c, answer, fault);
    ask->is_whole = answer->rows <= WHOLE_ROWS_MAX;
    return outcome;
}

size_t postgres_table_name(const struct driver *driver, uint32_t table, char out[DRIVER_NAME_MAX])
{
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "%" PRIu32, driver->device_of[table]);
}

void postgres_free_asks(struct connection *c)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        free(c->asks[i]);
}
