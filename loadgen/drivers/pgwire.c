/* The driver of databases that take INSERT but no COPY by version 3 of the PostgreSQL protocol,
 * such as QuestDB. libpq's pipeline mode takes two to three times its CPU time per row
 * (docs/performance.md). It does not read: QuestDB answers over HTTP. Columns of text: the device
 * d<t>, and tags. Method: `insert`, one transaction per request. Option: parted=1, table t belongs
 * to the SQL table <table>_p<t mod partitions>. */
#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"
#include "driver.h"
#include "pg_session.h"
#include "pg_values.h"
#include "stream.h"
#include "table_texts.h"

enum {
    /* Limits before answers are read: they fit into the buffers of two sockets, so that neither
       side waits. */
    WINDOW_STATEMENTS = 2048,
    WINDOW_BYTES = 1 << 20,
    STATEMENT_BYTES = 1 << 18, /* bytes of its values: the server reads a message as a whole */
    STATEMENT_ROWS = 100,
    STATEMENT_VALUES_MAX = INT16_MAX,
    SIZES = 3 /* the largest first; the last has one row */
};

struct driver {
    const struct driver_setup *setup;
    struct pg_server server;
    const char *table;
    bool is_parted;
    uint32_t first_column, column_count, parts;
    struct column *columns; /* a timestamp is a whole number here */
    uint32_t sizes[SIZES];
    struct table_texts heads; /* first values of each row: device and tags */
};

struct pgwire_row { /* names a row of the batch */
    uint32_t table, row;
};

struct connection {
    const struct driver *driver;
    struct stream stream;
    uint8_t *body, *out; /* window, and the end of what it holds */
    uint32_t due; /* statements in the window */
    bool *is_prepared; /* parts x SIZES */
    bool *is_present; /* parts: the request has rows of it */
    struct pgwire_row rows[STATEMENT_ROWS]; /* rows of one part, not yet in a statement */
    uint32_t row_count;
};

static inline uint32_t part_of(const struct driver *d, uint32_t table)
{
    return d->is_parted ? table % d->parts : 0;
}

/* Prepared statements. */

static uint32_t parameters_of_row(const struct driver *d)
{
    return 2 + d->setup->schema->tag_count + d->column_count;
}

static uint64_t parse_bytes(const struct driver *d)
{
    const uint64_t names = d->setup->schema->tag_count + d->column_count;
    const uint64_t parameters = (uint64_t)d->sizes[0] * parameters_of_row(d);
    return 256 + strlen(d->table) + names * (NAME_MAX_BYTES + 4) + parameters * (8 + 4) +
           4 * (uint64_t)d->sizes[0];
}

static uint8_t *put_statement_name(const struct driver *d, uint32_t part, uint32_t size,
                                   uint8_t *out)
{
    return pg_put_words(out, "p%u_%u", (unsigned)part, (unsigned)d->sizes[size]) + 1;
}

static uint8_t *put_statement(const struct driver *d, uint32_t part, uint32_t size, uint8_t *out)
{
    const struct schema *schema = d->setup->schema;
    const uint32_t count = parameters_of_row(d);
    out = pg_put_words(out, "INSERT INTO \"%s", d->table);
    if (d->is_parted)
        out = pg_put_words(out, "_p%u", (unsigned)part);
    out = pg_put_words(out, "\" (device");
    for (uint32_t i = 0; i < schema->tag_count; i++)
        out = pg_put_words(out, ", \"%s\"", schema->tags[i].name);
    for (uint32_t i = 0; i < d->column_count; i++)
        out = pg_put_words(out, ", \"%s\"", d->columns[i].name);
    out = pg_put_words(out, ", timestamp) VALUES ");
    for (uint32_t i = 0; i < d->sizes[size] * count; i++)
        out = pg_put_words(out, "%s$%u", i % count ? ", " : i ? "), (" : "(", (unsigned)i + 1);
    return pg_put_words(out, ")") + 1;
}

static uint8_t *put_parse(const struct driver *d, uint32_t part, uint32_t size, uint8_t *out)
{
    const uint32_t tags = d->setup->schema->tag_count, count = parameters_of_row(d);
    uint8_t *const begin = out;
    out = put_statement(d, part, size, put_statement_name(d, part, size, out + 5));
    put_u16(out, (uint16_t)(d->sizes[size] * count));
    out += 2;
    for (uint32_t i = 0; i < d->sizes[size] * count; i++, out += 4) {
        const uint32_t n = i % count;
        put_u32(out, n <= tags        ? OID_VARCHAR
                     : n + 1 == count ? OID_TIMESTAMP
                                      : pg_oid(d->columns[n - 1 - tags].type));
    }
    return pg_end_message(begin, 'P', out);
}

static enum outcome prepare_insert(struct connection *c, uint32_t part, uint32_t size,
                                   const uint8_t *mark, struct fault *fault)
{
    const struct driver *d = c->driver;
    uint8_t *const text = malloc(parse_bytes(d));
    if (!text)
        return fault_no_memory(fault);
    const uint8_t *const end = put_parse(d, part, size, text);
    const enum outcome outcome = pg_prepare(&c->stream, text, end, 1, mark, fault);
    free(text);
    c->is_prepared[part * SIZES + size] = outcome == OUTCOME_OK;
    return outcome;
}

/* Without parameters. */
static uint8_t *put_parse_of(uint8_t *out, const char *name, const char *statement)
{
    uint8_t *const begin = out;
    out = pg_put_words(pg_put_words(out + 5, "%s", name) + 1, "%s", statement) + 1;
    put_u16(out, 0);
    return pg_end_message(begin, 'P', out + 2);
}

/* BEGIN, COMMIT, ROLLBACK and each part's INSERT of one row, which shows a table that does not fit.
 */
static enum outcome prepare_all(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    uint8_t text[256], *end = put_parse_of(text, "begin", "BEGIN");
    end = put_parse_of(end, "commit", "COMMIT");
    end = put_parse_of(end, "rollback", "ROLLBACK");
    memset(c->is_prepared, 0, (size_t)d->parts * SIZES * sizeof *c->is_prepared);
    enum outcome outcome = pg_prepare(&c->stream, text, end, 3, pg_sync, fault);
    for (uint32_t part = 0; outcome == OUTCOME_OK && part < d->parts; part++)
        outcome = prepare_insert(c, part, SIZES - 1, pg_sync, fault);
    return outcome;
}

static enum outcome reach(struct connection *c, struct fault *fault)
{
    if (c->stream.fd >= 0)
        return OUTCOME_OK;
    enum outcome outcome = pg_connect(&c->stream, &c->driver->server, fault);
    if (outcome == OUTCOME_OK)
        outcome = prepare_all(c, fault);
    if (outcome != OUTCOME_OK)
        stream_close(&c->stream);
    return outcome;
}

/* A prepared INSERT has a fixed number of rows; device and tags are encoded once. */

enum {
    MESSAGE_BYTES = 96, /* most bytes around the values of a statement */
    DEVICE_BYTES = 16,
    TIME_BYTES = 4 + 8
};

static uint8_t *put_bytes(uint8_t *out, const void *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

static uint8_t *put_text(uint8_t *out, const char *text, size_t length)
{
    put_u32(out, (uint32_t)length);
    return put_bytes(out + 4, text, length);
}

static uint8_t *put_tag(uint8_t *out, const struct driver *d, uint32_t tag, uint32_t table)
{
    char space[TAG_TEXT_MAX];
    uint32_t length;
    const char *text = tag_text(d->setup->spec, d->setup->schema, tag, table, space, &length);
    return put_text(out, text, length);
}

static size_t pgwire_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    (void)d;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "d%u", (unsigned)table);
}

static char *put_head(void *context, uint32_t table, char *text)
{
    const struct driver *d = context;
    char device[DRIVER_NAME_MAX];
    uint8_t *out = put_text((uint8_t *)text, device, pgwire_table_name(d, table, device));
    for (uint32_t i = 0; i < d->setup->schema->tag_count; i++)
        out = put_tag(out, d, i, table);
    return (char *)out;
}

static uint64_t row_values_bytes(const struct driver *d)
{
    uint64_t bytes = d->heads.longest + TIME_BYTES;
    for (uint32_t i = 0; i < d->column_count; i++)
        bytes += 4 + pg_wire_bytes(&d->columns[i]);
    return bytes;
}

static void choose_sizes(struct driver *d)
{
    const uint64_t by_bytes = STATEMENT_BYTES / row_values_bytes(d);
    const uint32_t by_count = STATEMENT_VALUES_MAX / parameters_of_row(d);
    uint32_t most = by_bytes < by_count ? (uint32_t)by_bytes : by_count;
    most = most > STATEMENT_ROWS ? STATEMENT_ROWS : most;
    for (uint32_t i = 0; i < SIZES; i++, most /= 10)
        d->sizes[i] = most > 1 && i + 1 < SIZES ? most : 1;
}

static uint64_t insert_bytes(const struct driver *d, uint32_t size)
{
    return MESSAGE_BYTES + d->sizes[size] * row_values_bytes(d);
}

/* Without parameters. */
static uint8_t *put_run(uint8_t *out, const char *name)
{
    uint8_t *const begin = out;
    out[5] = 0; /* the portal without a name */
    out = pg_put_words(out + 6, "%s", name) + 1;
    memset(out, 0, 6); /* formats, parameters, formats of an answer */
    return pg_put_execute(pg_end_message(begin, 'B', out + 6));
}

static uint8_t *put_row(const struct driver *d, const struct us_ratio *us,
                        const struct batch *batch, const struct pgwire_row *row, uint8_t *out)
{
    uint32_t length;
    const char *head = table_text(&d->heads, row->table, &length);
    out = put_bytes(out, head, length);
    for (uint32_t i = 0; i < d->column_count; i++)
        out = pg_put_field(us, out, &d->columns[i], &batch->columns[batch->first_column + i],
                           row->row);
    put_u32(out, 8);
    put_u64(out + 4, (uint64_t)pg_us(us, batch->times[row->row]));
    return out + TIME_BYTES;
}

static uint8_t *put_insert(const struct driver *d, const struct batch *batch, uint32_t part,
                           uint32_t size, const struct pgwire_row *rows, uint8_t *out)
{
    const struct us_ratio us = pg_us_ratio(d->setup->spec);
    uint8_t *const begin = out;
    out[5] = 0; /* the portal without a name */
    out = put_statement_name(d, part, size, out + 6);
    put_u16(out, 1);
    put_u16(out + 2, FORMAT_BINARY);
    put_u16(out + 4, (uint16_t)(d->sizes[size] * parameters_of_row(d)));
    out += 6;
    for (uint32_t i = 0; i < d->sizes[size]; i++)
        out = put_row(d, &us, batch, &rows[i], out);
    put_u16(out, 0);
    return pg_put_execute(pg_end_message(begin, 'B', out + 2));
}

/* A request is one transaction, sent without waiting. The COMMIT's answer acknowledges the rows; an
 * error rolls back. */

static enum outcome await_ready(struct connection *c, struct pg_answer *answer, struct fault *fault)
{
    do
        if (!pg_read(&c->stream, answer))
            return stream_fault(&c->stream, fault);
    while (answer->kind != 'Z');
    return OUTCOME_OK;
}

/* After an error, which `fault` holds: rolls back an open transaction. */
static enum outcome recover(struct connection *c, bool is_synced, struct fault *fault)
{
    struct pg_answer answer;
    uint8_t text[64];
    const uint8_t *const end = put_run(text, "rollback");
    if (!is_synced && !stream_write(&c->stream, pg_sync, PG_MARK_BYTES, NULL, 0))
        return stream_fault(&c->stream, fault);
    enum outcome outcome = await_ready(c, &answer, fault);
    if (outcome == OUTCOME_OK && answer.length == 1 && answer.bytes[0] != 'I') {
        if (!stream_write(&c->stream, text, (size_t)(end - text), pg_sync, PG_MARK_BYTES))
            return stream_fault(&c->stream, fault);
        outcome = await_ready(c, &answer, fault);
    }
    return outcome == OUTCOME_OK ? OUTCOME_ERROR : outcome;
}

static enum outcome fail(struct connection *c, const struct pg_answer *answer, bool is_synced,
                         struct fault *fault)
{
    pg_refused(answer, fault);
    if (answer->kind == 'E')
        return recover(c, is_synced, fault);
    stream_close(&c->stream);
    return OUTCOME_ERROR;
}

static enum outcome fly(struct connection *c, const uint8_t *mark, uint64_t *acked,
                        struct fault *fault)
{
    struct pg_answer answer;
    const bool is_sync = mark == pg_sync;
    const size_t length = (size_t)(c->out - c->body);
    const uint32_t due = c->due;
    c->out = c->body;
    c->due = 0;
    if (c->driver->setup->is_sending_stubbed)
        return OUTCOME_OK;
    if (!stream_write(&c->stream, c->body, length, mark, PG_MARK_BYTES))
        return stream_fault(&c->stream, fault);
    for (uint32_t done = 0; is_sync || done < due;) {
        if (!pg_read(&c->stream, &answer))
            return stream_fault(&c->stream, fault);
        if (answer.kind == 'C') {
            done++;
            *acked += pg_rows(&answer);
        } else if (answer.kind == 'Z') {
            break;
        } else if (answer.kind != '2') {
            return fail(c, &answer, is_sync, fault);
        }
    }
    return OUTCOME_OK;
}

/* Prepares the statement if it is new. */
static enum outcome make_ready(struct connection *c, uint32_t part, uint32_t size, uint64_t *acked,
                               struct fault *fault)
{
    const struct driver *d = c->driver;
    const bool is_new = !c->is_prepared[part * SIZES + size] && !d->setup->is_sending_stubbed;
    const uint64_t room = (uint64_t)(c->body + WINDOW_BYTES - c->out);
    enum outcome outcome = OUTCOME_OK;
    if (is_new || c->due == WINDOW_STATEMENTS || room < 2 * insert_bytes(d, size))
        outcome = fly(c, pg_flush, acked, fault);
    if (outcome != OUTCOME_OK || !is_new)
        return outcome;
    outcome = prepare_insert(c, part, size, pg_flush, fault);
    return outcome == OUTCOME_ERROR && c->stream.fd >= 0 ? recover(c, false, fault) : outcome;
}

/* is_end: also into the smaller sizes. */
static enum outcome put_rows(struct connection *c, const struct batch *batch, uint32_t part,
                             bool is_end, uint64_t *acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    uint32_t done = 0;
    for (uint32_t size = 0; size < (is_end ? SIZES : 1u); size++)
        while (c->row_count - done >= d->sizes[size]) {
            const enum outcome outcome = make_ready(c, part, size, acked, fault);
            if (outcome != OUTCOME_OK)
                return outcome;
            c->out = put_insert(d, batch, part, size, c->rows + done, c->out);
            c->due++;
            done += d->sizes[size];
            *acked += d->setup->is_sending_stubbed ? d->sizes[size] : 0;
        }
    c->row_count -= done;
    memmove(c->rows, c->rows + done, c->row_count * sizeof *c->rows);
    return OUTCOME_OK;
}

static enum outcome put_part(struct connection *c, const struct batch *batch, uint32_t part,
                             uint64_t *acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    enum outcome outcome = OUTCOME_OK;
    c->row_count = 0;
    for (const struct slice *s = batch->slices; s < batch->slices + batch->slice_count; s++)
        for (uint32_t i = 0; part_of(d, s->table) == part && i < s->rows; i++) {
            c->rows[c->row_count++] = (struct pgwire_row){s->table, s->offset + i};
            if (c->row_count == d->sizes[0])
                outcome = put_rows(c, batch, part, false, acked, fault);
            if (outcome != OUTCOME_OK)
                return outcome;
        }
    return put_rows(c, batch, part, true, acked, fault);
}

static enum outcome send_rows(struct connection *c, const struct batch *batch, uint64_t *acked,
                              struct fault *fault)
{
    const struct driver *d = c->driver;
    enum outcome outcome = OUTCOME_OK;
    memset(c->is_present, 0, d->parts * sizeof *c->is_present);
    for (const struct slice *s = batch->slices; s < batch->slices + batch->slice_count; s++)
        c->is_present[part_of(d, s->table)] = true;
    c->out = put_run(c->body, "begin");
    c->due = 1;
    for (uint32_t part = 0; outcome == OUTCOME_OK && part < d->parts; part++)
        if (c->is_present[part])
            outcome = put_part(c, batch, part, acked, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    c->out = put_run(c->out, "commit");
    c->due++;
    return fly(c, pg_sync, acked, fault);
}

static enum outcome pgwire_send(struct connection *c, const struct batch *batch,
                                uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    enum outcome outcome = OUTCOME_OK;
    uint64_t acked = 0;
    *rows_acked = 0;
    stream_deadline(&c->stream, deadline_ns);
    if (!c->driver->setup->is_sending_stubbed)
        outcome = reach(c, fault);
    if (outcome == OUTCOME_OK)
        outcome = send_rows(c, batch, &acked, fault);
    return outcome == OUTCOME_OK ? pg_acknowledge(acked, batch, rows_acked, fault) : outcome;
}

static const struct driver_method methods[] = {
    {"insert", FEATURE_DEADLINE | FEATURE_SEPARABLE, NULL}, {NULL, 0, NULL}};

static const char *const options[] = {"parted", NULL};

static enum outcome pgwire_open(const struct driver_setup *setup, struct driver **driver,
                                struct fault *fault)
{
    const struct spec *spec = setup->spec;
    uint64_t is_parted = 0;
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->server = pg_server_of(setup, "admin", "qdb");
    d->table = spec->table ? spec->table : "measurement";
    if (!driver_option(spec, "parted", 0, 1, &is_parted, fault))
        return OUTCOME_FATAL;
    d->is_parted = is_parted;
    d->parts = is_parted ? (uint32_t)spec->partitions : 1;
    const enum outcome outcome =
        pg_take_columns(setup, "an INSERT", &d->columns, &d->first_column, &d->column_count, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (2 + (uint64_t)setup->schema->tag_count + d->column_count > STATEMENT_VALUES_MAX)
        return fault_spec(fault, "columns: more than one statement has parameters for");
    const size_t most = 4 + DEVICE_BYTES + (size_t)setup->schema->tag_count * (4 + TAG_TEXT_MAX);
    if (!table_texts_make(&d->heads, spec->tables, most, 0, put_head, d))
        return fault_no_memory(fault);
    choose_sizes(d);
    if (row_values_bytes(d) > STATEMENT_BYTES)
        return fault_spec(fault, "columns: a row is longer than the server reads at once");
    return OUTCOME_OK;
}

static void pgwire_disconnect(struct connection *c)
{
    stream_free(&c->stream);
    free(c->body);
    free(c->is_prepared);
    free(c->is_present);
    free(c);
}

static enum outcome pgwire_connect(struct driver *d, uint32_t worker,
                                   struct connection **connection, struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->stream.fd = -1;
    c->body = malloc(WINDOW_BYTES);
    c->is_prepared = calloc((size_t)d->parts * SIZES, sizeof *c->is_prepared);
    c->is_present = calloc(d->parts, sizeof *c->is_present);
    if (!c->body || !c->is_prepared || !c->is_present) {
        pgwire_disconnect(c);
        return fault_no_memory(fault);
    }
    if (!d->setup->is_sending_stubbed && reach(c, fault) != OUTCOME_OK) {
        pgwire_disconnect(c);
        return OUTCOME_FATAL;
    }
    *connection = c;
    return OUTCOME_OK;
}

static void pgwire_close(struct driver *d)
{
    table_texts_free(&d->heads);
    free(d->columns);
    free(d);
}

const struct driver_ops driver_pgwire = {
    .abi = DRIVER_ABI,
    .name = "pgwire",
    .methods = methods,
    .options = options,
    .open = pgwire_open,
    .place = driver_place_in_turn,
    .connect = pgwire_connect,
    .send = pgwire_send,
    .disconnect = pgwire_disconnect,
    .close = pgwire_close,
    .row_bytes = row_values_bytes,
    .table_name = pgwire_table_name,
};
