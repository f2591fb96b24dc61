/* The driver of PostgreSQL through libpq: queries, placement, SQL and methods. Methods: `copy`,
 * COPY ... FROM STDIN (FORMAT binary); `jsonb`, the same with all columns in one jsonb; `insert`
 * and `upsert`, a prepared INSERT of arrays. A request is one statement, whose count the server
 * acknowledges. A table is a device_id. The SQL table, its partitions and key exist. */
#include "postgres_rows.h"

#include <ctype.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../marks.h"
#include "answer_value.h"
#include "ask_text.h"
#include "pg_values.h"

enum { NUMERIC_NEGATIVE = 0x4000, NUMERIC_TEXT = 512 };

static uint64_t read_bytes(const char *value, int length)
{
    uint64_t bits = 0;
    for (int i = 0; i < length; i++)
        bits = bits << 8 | (uint8_t)value[i];
    return bits;
}

static int16_t read_i16(const char *value)
{
    return (int16_t)read_bytes(value, 2);
}

/* A numeric as a decimal: four numbers of 16 bits, then digits to the base 10,000. NaN and what is
 * too long become a text. */
static void hand_numeric(const struct result_sink *sink, const char *value, int length)
{
    const bool is_whole = length >= 8;
    const int digits = is_whole ? read_i16(value) : 0, weight = is_whole ? read_i16(value + 2) : 0;
    const int sign = is_whole ? (int)read_bytes(value + 4, 2) : 0;
    const int scale = is_whole ? read_i16(value + 6) : 0;
    char text[NUMERIC_TEXT];
    if (!is_whole || length < 8 + 2 * digits || (sign != 0 && sign != NUMERIC_NEGATIVE) ||
        weight > 50 || scale > 200) {
        sink_text(sink, "numeric", 7);
        return;
    }
    size_t used = (size_t)snprintf(text, sizeof text, "%s", sign ? "-" : "");
    const size_t begin = used;
    for (int i = 0; i <= weight; i++) {
        const int digit = i < digits ? read_i16(value + 8 + 2 * i) : 0;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, used > begin ? "%04d" : "%d", digit);
    }
    if (weight < 0)
        text[used++] = '0';
    if (scale > 0)
        text[used++] = '.';
    const size_t point = used;
    for (int i = weight + 1; (int)(used - point) < scale; i++) {
        const int digit = i >= 0 && i < digits ? read_i16(value + 8 + 2 * i) : 0;
        used += (size_t)snprintf(text + used, sizeof text - used, "%04d", digit);
    }
    sink->value(sink->context, text, scale > 0 ? point + (size_t)scale : used, true);
}

/* Queries: prepared statements, binary. Large answers are read row by row. Memory is allocated at
 * `prepare` only. */

enum {
    WHOLE_ROWS_MAX = 10000 /* the next answer is read at once after one of at most so many rows */
};

#define GRACE_NS 1000000000ull /* for the server's report that it ended a query */

struct postgres_ask { /* one operation on one connection */
    char name[16];
    bool is_whole; /* its answers are read at once */
    int count;
    uint8_t bytes[PARAMETERS_MAX][8]; /* parameters, most significant byte first */
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

static void describe(struct postgres_ask *ask, const struct marks *marks)
{
    for (uint32_t i = 0; i < marks->count; i++) {
        if (marks->pieces[i].mark == MARK_NONE)
            continue;
        const int n = ask->count++;
        ask->types[n] = type_of(marks->pieces[i].mark);
        ask->lengths[n] = ask->types[n] == OID_INT4 ? 4 : 8;
        ask->formats[n] = FORMAT_BINARY;
        ask->values[n] = (const char *)ask->bytes[n];
    }
}

/* Whether a command has succeeded; frees its result. */
static enum outcome ended(struct connection *c, PGresult *result, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    const enum outcome outcome = p->result_status(result) == RES_COMMAND
                                     ? OUTCOME_OK
                                     : postgres_fault(p, c->conn, result, fault);
    p->clear(result);
    return outcome;
}

/* Ends a late query on the server, so that the connection stays usable. */
static enum outcome limit_time(struct connection *c, struct fault *fault)
{
    const double ms = c->driver->setup->spec->request_timeout_s * 1e3;
    char text[64];
    snprintf(text, sizeof text, "SET statement_timeout = %.0f", ms > 1 ? ms : 1);
    return ended(c, c->driver->libpq.exec(c->conn, text), fault);
}

static enum outcome postgres_check_ask(const struct driver *d, const struct marks *marks,
                                       const char *text, struct fault *fault)
{
    (void)d, (void)text;
    if (!marks_count(marks, MARK_ITEM))
        return OUTCOME_OK;
    return fault_spec(fault, "{item}: a prepared statement has no text of each request");
}

static enum outcome postgres_prepare(struct connection *c, uint32_t operation, const char *text,
                                     struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    struct marks *marks = malloc(sizeof *marks);
    struct postgres_ask *ask = calloc(1, sizeof *ask);
    char why[128] = "out of memory", *statement = NULL;
    c->asks[operation] = ask;
    if (marks && ask && marks_read(marks, text, why, sizeof why)) {
        describe(ask, marks);
        statement = ask_statement(marks, true);
    }
    free(marks);
    if (!statement)
        return fault_spec(fault, "%s", why);
    snprintf(ask->name, sizeof ask->name, "ask%u", (unsigned)operation);
    PGresult *result = p->prepare(c->conn, ask->name, statement, ask->count, ask->types);
    const enum outcome outcome = ended(c, result, fault);
    free(statement);
    if (outcome == OUTCOME_OK && c->driver->setup->spec->request_timeout_s > 0)
        return limit_time(c, fault);
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

static struct answer_value value_of(unsigned type, const char *value, int length)
{
    struct answer_value cell = {.kind = ANSWER_WHOLE};
    uint64_t eight = 0;
    uint32_t four = 0;
    uint16_t two = 0;
    float small;
    memcpy(&eight, value, length == 8 ? 8 : 0);
    memcpy(&four, value, length == 4 ? 4 : 0);
    memcpy(&two, value, length == 2 ? 2 : 0);
    eight = be64toh(eight);
    four = be32toh(four);
    switch (type) {
    case OID_BOOL:
        cell.whole = (uint8_t)*value;
        break;
    case OID_INT2:
        cell.whole = (int16_t)be16toh(two);
        break;
    case OID_INT4:
        cell.whole = (int32_t)four;
        break;
    case OID_INT8:
        cell.whole = (int64_t)eight;
        break;
    case OID_FLOAT4:
        memcpy(&small, &four, sizeof small);
        cell.kind = ANSWER_FLOAT;
        cell.real = (double)small;
        break;
    case OID_FLOAT8:
        memcpy(&cell.real, &eight, sizeof cell.real);
        cell.kind = ANSWER_DOUBLE;
        break;
    case OID_TIMESTAMP:
    case OID_TIMESTAMPTZ:
        cell.whole = (int64_t)((eight + EPOCH_US) * 1000);
        break;
    default:
        cell = (struct answer_value){.kind = ANSWER_TEXT, .text = value, .length = (size_t)length};
    }
    return cell;
}

/* In the digest a numeric is its bytes, for the sink a decimal. */
static void take_value(const struct libpq *p, const PGresult *result, int row, int column,
                       struct answer *answer)
{
    const unsigned type = p->column_type(result, column);
    const char *value = p->value(result, row, column);
    const int length = p->length(result, row, column);
    struct answer_value cell = {.kind = ANSWER_NULL};
    if (!p->is_null(result, row, column))
        cell = value_of(type, value, length);
    if (answer->wants_digest)
        answer->digest = answer_digest(answer->digest, &cell);
    if (answer->sink && type == OID_NUMERIC && cell.kind != ANSWER_NULL)
        hand_numeric(answer->sink, value, length);
    else if (answer->sink)
        answer_hand(answer->sink, &cell);
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
    for (int r = 0; answer_is_read(answer) && r < rows; r++) {
        answer_begin_row(answer);
        for (int i = 0; i < columns; i++)
            take_value(p, result, r, i, answer);
        answer_end_row(answer);
    }
}

/* Everything, so that the connection is ready for the next query. */
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

static enum outcome postgres_ask(struct connection *c, uint32_t operation,
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

static size_t postgres_table_name(const struct driver *driver, uint32_t table,
                                  char out[DRIVER_NAME_MAX])
{
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "%" PRIu32, driver->device_of[table]);
}

/* Placement. The server's hash gives each device_id's partition; ids are chosen so that partitions
 * have equal numbers of tables, give or take one. */

enum { PAGE_IDS = 8192, PAGES_MAX = 200000 };

/* NULL with a fault if there is no row. */
static PGresult *select_rows(struct connection *c, const char *query, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    PGresult *result = p->exec(c->conn, query);
    const bool has_rows = p->result_status(result) == RES_TUPLES;
    if (has_rows && p->row_count(result) > 0 && p->column_count(result) > 0)
        return result;
    if (has_rows)
        fault_set(fault, FAULT_SERVER, "PLACE", "the server answered no rows: %.100s", query);
    else
        postgres_fault(p, c->conn, result, fault);
    p->clear(result);
    return NULL;
}

/* 0 for a plain table. */
static bool count_leaves(struct connection *c, uint64_t *leaves, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    char query[512];
    snprintf(query, sizeof query,
             "SELECT count(i.inhrelid) FROM pg_class c"
             " LEFT JOIN pg_partitioned_table t ON t.partrelid = c.oid AND t.partstrat = 'h'"
             " LEFT JOIN pg_inherits i ON i.inhparent = t.partrelid"
             " WHERE c.oid = '%s'::regclass",
             c->driver->table);
    PGresult *result = select_rows(c, query, fault);
    if (!result)
        return false;
    *leaves = strtoull(p->value(result, 0, 0), NULL, 10);
    p->clear(result);
    return true;
}

static bool page_of_ids(struct connection *c, uint64_t first_id, uint64_t partitions,
                        uint32_t *partition_of_id, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    char query[512];
    snprintf(query, sizeof query,
             "SELECT (SELECT r FROM generate_series(0, %" PRIu64 ") r WHERE"
             " satisfies_hash_partition('%s'::regclass, %" PRIu64 ", r, d) LIMIT 1)"
             " FROM generate_series(%" PRIu64 "::int4, %" PRIu64 "::int4) d ORDER BY d",
             partitions - 1, c->driver->table, partitions, first_id, first_id + PAGE_IDS - 1);
    PGresult *result = select_rows(c, query, fault);
    if (!result)
        return false;
    const int rows = p->row_count(result);
    for (int i = 0; i < rows && i < PAGE_IDS; i++)
        partition_of_id[i] = (uint32_t)strtoul(p->value(result, i, 0), NULL, 10);
    p->clear(result);
    if (rows != PAGE_IDS)
        fault_set(fault, FAULT_SERVER, "PLACE", "the server answered %d rows for %d device ids",
                  rows, PAGE_IDS);
    return rows == PAGE_IDS;
}

/* Table t gets an id of partition t mod partitions. next_table[p]: the next table of p without an
 * id. */
static bool choose_ids(struct connection *c, uint32_t *next_table, struct fault *fault)
{
    const struct spec *spec = c->driver->setup->spec;
    uint32_t *device_of = c->driver->device_of;
    uint32_t *page = malloc(PAGE_IDS * sizeof *page);
    uint64_t left = spec->tables;
    bool ok = page != NULL;
    for (uint32_t p = 0; p < spec->partitions; p++)
        next_table[p] = p;
    for (uint64_t n = 0; ok && left > 0 && n < PAGES_MAX; n++) {
        const uint64_t first_id = 1 + n * PAGE_IDS;
        ok = page_of_ids(c, first_id, spec->partitions, page, fault);
        for (uint32_t i = 0; ok && i < PAGE_IDS && left > 0; i++) {
            const uint32_t partition = page[i];
            if (partition >= spec->partitions || next_table[partition] >= spec->tables)
                continue;
            device_of[next_table[partition]] = (uint32_t)(first_id + i);
            next_table[partition] += (uint32_t)spec->partitions;
            left--;
        }
    }
    if (ok && left > 0) {
        fault_set(fault, FAULT_SERVER, "PLACE", "no device ids found for %" PRIu64 " tables", left);
        ok = false;
    }
    free(page);
    return ok;
}

/* Without asking the server: ids are the tables' numbers from 1 on. */
static void place_anywhere(struct driver *driver, uint32_t *partition_of)
{
    const struct spec *spec = driver->setup->spec;
    driver_place_in_turn(driver, partition_of, NULL);
    for (uint32_t t = 0; t < spec->tables; t++)
        driver->device_of[t] = t + 1;
}

static bool place_with(struct connection *c, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = c->driver->setup->spec;
    uint64_t leaves = 0;
    if (!count_leaves(c, &leaves, fault))
        return false;
    if (leaves != spec->partitions && !(leaves == 0 && spec->partitions == 1)) {
        fault_set(fault, FAULT_SERVER, "PLACE",
                  "table %s has %" PRIu64 " hash partitions, the spec says partitions=%" PRIu64,
                  c->driver->table, leaves, spec->partitions);
        return false;
    }
    place_anywhere(c->driver, partition_of);
    if (leaves == 0)
        return true;
    uint32_t *next_table = calloc(spec->partitions, sizeof *next_table);
    const bool ok = next_table && choose_ids(c, next_table, fault);
    free(next_table);
    return ok;
}

static void postgres_disconnect(struct connection *c)
{
    if (c->conn)
        c->driver->libpq.finish(c->conn);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        free(c->asks[i]);
    postgres_free_arrays(c);
    free(c->buffer);
    free(c);
}

static enum outcome postgres_connect(struct driver *driver, uint32_t worker,
                                     struct connection **connection, struct fault *fault)
{
    const struct spec *spec = driver->setup->spec;
    char port[8] = "", timeout[16];
    (void)worker;
    snprintf(timeout, sizeof timeout, "%.0f", ceil(spec->connect_timeout_s));
    if (spec->port)
        snprintf(port, sizeof port, "%u", (unsigned)spec->port);
    const char *const keys[] = {"host",
                                "port",
                                "user",
                                "dbname",
                                "password",
                                "application_name",
                                "connect_timeout",
                                "sslmode",
                                "sslrootcert",
                                "gssencmode",
                                NULL};
    const char *const values[] = {spec->socket_dir ? spec->socket_dir : spec->host,
                                  port,
                                  spec->user,
                                  spec->database,
                                  driver->setup->password,
                                  "scale-loadgen",
                                  timeout,
                                  spec_option(spec, "sslmode"),
                                  spec_option(spec, "sslrootcert"),
                                  spec_option(spec, "gssencmode"),
                                  NULL};
    struct connection *c = calloc(1, sizeof *c);
    if (!c || !(c->buffer = aligned_alloc(64, POSTGRES_BUFFER_SPACE))) {
        free(c);
        return fault_no_memory(fault);
    }
    c->driver = driver;
    if (driver->setup->is_sending_stubbed) {
        c->way = WAY_NOWHERE;
        *connection = c;
        return OUTCOME_OK;
    }
    c->conn = driver->libpq.connect(keys, values, 0);
    if (c->conn && driver->libpq.status(c->conn) == CONNECTION_GOOD) {
        *connection = c;
        return OUTCOME_OK;
    }
    fault_set(fault, FAULT_SERVER, "CONNECT", "%s",
              c->conn ? driver->libpq.error(c->conn) : "out of memory");
    postgres_disconnect(c);
    return OUTCOME_FATAL;
}

static enum outcome postgres_place(struct driver *driver, uint32_t *partition_of,
                                   struct fault *fault)
{
    struct connection *c = NULL;
    fault_no_memory(fault);
    driver->device_of = calloc(driver->setup->spec->tables, sizeof *driver->device_of);
    if (driver->device_of && driver->setup->is_sending_stubbed) {
        place_anywhere(driver, partition_of);
        return OUTCOME_OK;
    }
    if (!driver->device_of || postgres_connect(driver, 0, &c, fault) != OUTCOME_OK)
        return OUTCOME_FATAL;
    const bool ok = place_with(c, partition_of, fault);
    postgres_disconnect(c);
    return ok ? OUTCOME_OK : OUTCOME_FATAL;
}

/* Whether its text is also a JSON number. */
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

static void pass_columns(const struct libpq *p, PGresult *result, const struct result_sink *sink)
{
    const int columns = p->column_count(result);
    for (int i = 0; i < columns; i++)
        sink->column(sink->context, p->column_name(result, i));
}

static void pass_rows(const struct libpq *p, PGresult *result, const struct result_sink *sink)
{
    const int rows = p->row_count(result), columns = p->column_count(result);
    for (int r = 0; r < rows; r++) {
        sink->row(sink->context);
        for (int i = 0; i < columns; i++) {
            const char *text = p->is_null(result, r, i) ? NULL : p->value(result, r, i);
            /* NaN and Infinity are not JSON */
            const bool is_number = text && is_number_type(p->column_type(result, i)) &&
                                   !isalpha((unsigned char)text[text[0] == '-']);
            sink->value(sink->context, text, text ? (size_t)p->length(result, r, i) : 0, is_number);
        }
    }
}

static enum outcome take_result(struct connection *c, PGresult *result, bool *has_columns,
                                const struct result_sink *sink, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    switch (p->result_status(result)) {
    case RES_SINGLE_TUPLE:
    case RES_TUPLES:
        if (!*has_columns)
            pass_columns(p, result, sink);
        *has_columns = true;
        pass_rows(p, result, sink);
        return OUTCOME_OK;
    case RES_COMMAND:
        sink->affected(sink->context, strtoull(p->tuples_done(result), NULL, 10));
        return OUTCOME_OK;
    case RES_EMPTY:
        return OUTCOME_OK;
    case RES_COPY_OUT:
        return fault_set(fault, FAULT_SERVER, "COPY", "sql takes no rows of COPY ... TO STDOUT");
    default:
        return postgres_fault(p, c->conn, result, fault);
    }
}

/* So that the connection is ready for the next statement. */
static void drop_copy(struct connection *c)
{
    const struct libpq *p = &c->driver->libpq;
    char *row = NULL;
    while (p->get_data(c->conn, &row, 0) > 0)
        p->free_data(row);
}

static enum outcome postgres_sql(struct connection *c, const char *statement,
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

#define FORM(method) (&(const enum postgres_method){method})

static const struct driver_method methods[] = {
    {"copy", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_COPY)},
    {"insert", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_INSERT)},
    {"upsert", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_UPSERT)},
    {"copy-upsert", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_COPY_UPSERT)},
    {"jsonb", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_JSONB)},
    {NULL, 0, NULL}};

static const char *const options[] = {"sslmode", "sslrootcert", "gssencmode", NULL};

/* False: it does not fit. */
static bool build_copy(struct driver *d)
{
    const struct schema *schema = d->setup->schema;
    const uint32_t first = postgres_first_column(d);
    const uint32_t count = d->method == METHOD_JSONB ? 0 : postgres_column_count(d);
    size_t used = (size_t)snprintf(d->copy, sizeof d->copy, "COPY %s (time, device_id%s", d->table,
                                   d->method == METHOD_JSONB ? ", metrics" : "");
    for (uint32_t i = first; i < first + count && used < sizeof d->copy; i++)
        used += (size_t)snprintf(d->copy + used, sizeof d->copy - used, ", \"%s\"",
                                 schema->columns[i].name);
    if (used < sizeof d->copy)
        used +=
            (size_t)snprintf(d->copy + used, sizeof d->copy - used, ") FROM STDIN (FORMAT binary)");
    return used < sizeof d->copy;
}

static bool check_row(const struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    const uint64_t bytes = d->method == METHOD_JSONB
                               ? postgres_json_row_bytes(schema, 0, schema->column_count)
                               : postgres_row_bytes(schema, 0, schema->column_count);
    if (bytes <= POSTGRES_BUFFER_BYTES && schema->column_count <= 1600)
        return true;
    fault_set(fault, FAULT_SPEC, "COLUMNS",
              "columns: a row of %" PRIu64 " bytes and %" PRIu32
              " columns is more than this driver sends (%d bytes, 1600 columns)",
              bytes, schema->column_count, POSTGRES_BUFFER_BYTES);
    return false;
}

static enum outcome open_method(struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    const uint32_t first = postgres_first_column(d), count = postgres_column_count(d);
    d->row_bytes = d->method == METHOD_JSONB ? postgres_json_row_bytes(schema, first, count)
                                             : postgres_row_bytes(schema, first, count);
    if (d->method == METHOD_JSONB && postgres_open_json(d, fault) != OUTCOME_OK)
        return OUTCOME_FATAL;
    if (d->method == METHOD_INSERT || d->method == METHOD_UPSERT)
        return postgres_open_insert(d, fault);
    if (d->method == METHOD_COPY_UPSERT)
        return postgres_open_staged(d, fault);
    if (build_copy(d))
        return OUTCOME_OK;
    fault_set(fault, FAULT_SPEC, "COLUMNS", "columns: the COPY statement grows too long");
    return OUTCOME_FATAL;
}

static enum outcome postgres_open(const struct driver_setup *setup, struct driver **driver,
                                  struct fault *fault)
{
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->table = setup->spec->table ? setup->spec->table : "measurement";
    d->method = *(const enum postgres_method *)setup->method->form;
    return check_row(d, fault) ? open_method(d, fault) : OUTCOME_FATAL;
}

static enum outcome load_library(struct driver *d, struct fault *fault)
{
    return postgres_load_library(&d->libpq, d->setup->spec->library, fault);
}

static enum outcome begin_copy(struct connection *c, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    PGresult *result = NULL;
    const char *const copy = c->driver->staged ? c->driver->staged : c->driver->copy;
    if (p->send_query(c->conn, copy) && postgres_flush(c))
        result = postgres_next_result(c);
    if (result && p->result_status(result) == RES_COPY_IN) {
        p->clear(result);
        return OUTCOME_OK;
    }
    if (c->is_late)
        return fault_late(fault, "the server did not begin the COPY");
    const enum outcome outcome = postgres_fault(p, c->conn, result, fault);
    for (; result; result = postgres_next_result(c)) /* so that the connection is ready again */
        p->clear(result);
    return c->is_late ? fault_late(fault, "the server did not end its refusal") : outcome;
}

static enum outcome postgres_send(struct connection *c, const struct batch *batch,
                                  uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    if (c->driver->insert)
        return postgres_send_insert(c, batch, deadline_ns, rows_acked, fault);
    if (c->driver->setup->is_sending_stubbed) {
        *rows_acked = batch->rows;
        return postgres_send_rows(c, batch) ? OUTCOME_OK : OUTCOME_FATAL;
    }
    if (!postgres_begin(c, deadline_ns))
        return postgres_fault(p, c->conn, NULL, fault);
    enum outcome outcome = OUTCOME_OK;
    if (c->driver->staged && !c->has_stage)
        outcome = postgres_create_stage(c, fault);
    if (outcome == OUTCOME_OK)
        outcome = begin_copy(c, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    const bool is_sent =
        postgres_send_rows(c, batch) && p->put_end(c->conn, NULL) == 1 && postgres_flush(c);
    if (c->is_late)
        return fault_late(fault, "the server did not take the rows");
    outcome = postgres_take_answer(c, rows_acked, fault);
    if (c->is_late)
        return fault_late(fault, "the rows were sent, and not acknowledged");
    if (outcome != OUTCOME_OK && c->driver->staged)
        *rows_acked = 0; /* the COPY was undone */
    else if (c->driver->staged && postgres_may_repeat(c->driver->setup->spec))
        *rows_acked = batch->rows; /* a row counts once, but all are stored */
    /* The sending broke off: the server's last message says why. */
    return !is_sent && outcome == OUTCOME_OK ? OUTCOME_FATAL : outcome;
}

static void postgres_close(struct driver *driver)
{
    /* The library stays open: it may have registered handlers. */
    free(driver->device_of);
    free(driver->insert);
    free(driver->staged);
    free(driver->json);
    free(driver);
}

static const char *library_path(const struct driver *driver)
{
    return driver->libpq.path;
}

static const char *library_version(const struct driver *driver)
{
    return driver->libpq.version;
}

static const char *tls_version(const struct connection *c)
{
    const char *(*attribute)(PGconn *, const char *) = NULL; /* since libpq 9.5 */
    *(void **)&attribute = dlsym(c->driver->libpq.handle, "PQsslAttribute");
    return attribute ? attribute(c->conn, "protocol") : NULL;
}

static uint64_t row_bytes(const struct driver *driver)
{
    return driver->row_bytes;
}

const struct driver_ops driver_postgres = {
    .abi = DRIVER_ABI,
    .name = "postgres",
    .methods = methods,
    .options = options,
    .libraries = "libpq.so.5, libpq.so",
    .open = postgres_open,
    .load_library = load_library,
    .place = postgres_place,
    .connect = postgres_connect,
    .send = postgres_send,
    .disconnect = postgres_disconnect,
    .close = postgres_close,
    .library_path = library_path,
    .library_version = library_version,
    .tls_version = tls_version,
    .row_bytes = row_bytes,
    .sql = postgres_sql,
    .table_name = postgres_table_name,
    .check_ask = postgres_check_ask,
    .prepare = postgres_prepare,
    .ask = postgres_ask,
};
