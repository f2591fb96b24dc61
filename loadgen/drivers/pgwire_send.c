/* A request as one transaction: BEGIN, its rows by prepared INSERTs of up to a hundred rows of one
 * SQL table, COMMIT and Sync, without waiting between them. The rows are acknowledged when the
 * COMMIT is answered; after an error the transaction is rolled back, and none of them is there. */
#include <inttypes.h>

#include "pgwire_parts.h"

/* The number behind "INSERT 0 "; 0 for other statements. */
static uint64_t rows_of(const struct pgwire_answer *answer)
{
    static const char insert[] = "INSERT 0 ";
    uint64_t rows = 0;
    uint32_t at = sizeof insert - 1;
    if (answer->length <= at || memcmp(answer->bytes, insert, at) != 0)
        return 0;
    for (; at < answer->length && answer->bytes[at] >= '0' && answer->bytes[at] <= '9'; at++)
        rows = 10 * rows + (uint64_t)(answer->bytes[at] - '0');
    return rows;
}

static enum outcome roll_back(struct connection *c, struct fault *fault)
{
    struct pgwire_answer answer;
    uint8_t text[64];
    const uint8_t *const end = pgwire_put_run(text, "rollback");
    if (!stream_write(&c->stream, text, (size_t)(end - text), pgwire_sync, PGWIRE_MARK_BYTES))
        return pgwire_broken(&c->stream, fault);
    do
        if (!pgwire_read(&c->stream, &answer))
            return pgwire_broken(&c->stream, fault);
    while (answer.kind != 'Z');
    return OUTCOME_ERROR;
}

/* After an error, which `fault` has: reads until the server waits for more, and ends the
 * transaction where it is still open. */
static enum outcome recover(struct connection *c, bool is_synced, struct fault *fault)
{
    struct pgwire_answer answer;
    if (!is_synced && !stream_write(&c->stream, pgwire_sync, PGWIRE_MARK_BYTES, NULL, 0))
        return pgwire_broken(&c->stream, fault);
    do
        if (!pgwire_read(&c->stream, &answer))
            return pgwire_broken(&c->stream, fault);
    while (answer.kind != 'Z');
    const bool is_open = answer.length == 1 && answer.bytes[0] != 'I';
    return is_open ? roll_back(c, fault) : OUTCOME_ERROR;
}

/* A message that is no answer to a statement. */
static enum outcome fail(struct connection *c, const struct pgwire_answer *answer, bool is_synced,
                         struct fault *fault)
{
    pgwire_refused(answer, fault);
    if (answer->kind == 'E')
        return recover(c, is_synced, fault);
    stream_close(&c->stream);
    return OUTCOME_ERROR;
}

/* Sends what the window holds, with a mark behind it, and reads the answers. */
static enum outcome fly(struct connection *c, const uint8_t *mark, uint64_t *acked,
                        struct fault *fault)
{
    struct pgwire_answer answer;
    const bool is_sync = mark == pgwire_sync;
    const size_t length = (size_t)(c->out - c->body);
    const uint32_t due = c->due;
    c->out = c->body;
    c->due = 0;
    if (c->driver->setup->is_sending_stubbed)
        return OUTCOME_OK;
    if (!stream_write(&c->stream, c->body, length, mark, PGWIRE_MARK_BYTES))
        return pgwire_broken(&c->stream, fault);
    for (uint32_t done = 0; is_sync || done < due;) {
        if (!pgwire_read(&c->stream, &answer))
            return pgwire_broken(&c->stream, fault);
        if (answer.kind == 'C') {
            done++;
            *acked += rows_of(&answer);
        } else if (answer.kind == 'Z') {
            break;
        } else if (answer.kind != '2') {
            return fail(c, &answer, is_sync, fault);
        }
    }
    return OUTCOME_OK;
}

/* Makes room for a statement, which is prepared then. */
static enum outcome make_ready(struct connection *c, uint32_t part, uint32_t size, uint64_t *acked,
                               struct fault *fault)
{
    const struct driver *d = c->driver;
    const bool is_new =
        !c->is_prepared[part * PGWIRE_SIZES + size] && !d->setup->is_sending_stubbed;
    const uint64_t room = (uint64_t)(c->body + PGWIRE_WINDOW_BYTES - c->out);
    enum outcome outcome = OUTCOME_OK;
    if (is_new || c->due == PGWIRE_WINDOW_STATEMENTS || room < 2 * pgwire_insert_bytes(d, size))
        outcome = fly(c, pgwire_flush, acked, fault);
    if (outcome != OUTCOME_OK || !is_new)
        return outcome;
    outcome = pgwire_prepare(c, part, size, pgwire_flush, fault);
    return outcome == OUTCOME_ERROR && c->stream.fd >= 0 ? recover(c, false, fault) : outcome;
}

/* Statements of the rows that wait: those of the largest size, and with is_end all of them. */
static enum outcome put_rows(struct connection *c, const struct batch *batch, uint32_t part,
                             bool is_end, uint64_t *acked, struct fault *fault)
{
    const struct driver *d = c->driver;
    uint32_t done = 0;
    for (uint32_t size = 0; size < (is_end ? PGWIRE_SIZES : 1u); size++)
        while (c->row_count - done >= d->sizes[size]) {
            const enum outcome outcome = make_ready(c, part, size, acked, fault);
            if (outcome != OUTCOME_OK)
                return outcome;
            c->out = pgwire_put_insert(d, batch, part, size, c->rows + done, c->out);
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
        for (uint32_t i = 0; pgwire_part_of(d, s->table) == part && i < s->rows; i++) {
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
        c->is_present[pgwire_part_of(d, s->table)] = true;
    c->out = pgwire_put_run(c->body, "begin");
    c->due = 1;
    for (uint32_t part = 0; outcome == OUTCOME_OK && part < d->parts; part++)
        if (c->is_present[part])
            outcome = put_part(c, batch, part, acked, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    c->out = pgwire_put_run(c->out, "commit");
    c->due++;
    return fly(c, pgwire_sync, acked, fault);
}

enum outcome pgwire_send(struct connection *c, const struct batch *batch, uint64_t deadline_ns,
                         uint64_t *rows_acked, struct fault *fault)
{
    enum outcome outcome = OUTCOME_OK;
    uint64_t acked = 0;
    *rows_acked = 0;
    stream_deadline(&c->stream, deadline_ns);
    if (!c->driver->setup->is_sending_stubbed)
        outcome = pgwire_reach(c, fault);
    if (outcome == OUTCOME_OK)
        outcome = send_rows(c, batch, &acked, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    if (acked == batch->rows) {
        *rows_acked = acked;
        return OUTCOME_OK;
    }
    fault_set(fault, FAULT_SERVER, "COUNT",
              "the server says that it inserted %" PRIu64 " of %" PRIu32 " rows", acked,
              batch->rows);
    return OUTCOME_ERROR;
}
