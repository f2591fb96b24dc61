/* What the files of the driver of the PostgreSQL protocol share: the process's part, a connection,
 * and its messages. */
#ifndef SCALE_PGWIRE_PARTS_H
#define SCALE_PGWIRE_PARTS_H

#include "driver.h"
#include "pg_values.h"
#include "stream.h"

enum {
    /* Of a transaction, sent before their answers are read: what the server says to them fits into
     * the buffers of two sockets, so that neither side waits for the other. */
    PGWIRE_WINDOW_STATEMENTS = 2048,
    PGWIRE_WINDOW_BYTES = 1 << 20,
    PGWIRE_STATEMENT_BYTES = 1 << 18, /* of its values: the server reads a message as a whole */
    PGWIRE_STATEMENT_ROWS = 100,
    PGWIRE_PARAMETERS_MAX = INT16_MAX,
    PGWIRE_SIZES = 3 /* of statements of each part, the largest first; the last has one row */
};

struct driver {
    const struct driver_setup *setup;
    const char *host, *table, *user, *database;
    uint16_t port;
    bool is_parted; /* table t is of the SQL table <table>_p<t mod partitions> */
    uint32_t first_column, column_count, parts;
    struct column *columns; /* of a request; a timestamp is a whole number here */
    uint32_t sizes[PGWIRE_SIZES];
    uint8_t *heads; /* of all tables: the first values of its rows, device and tags */
    uint64_t *head_at; /* tables + 1 */
    uint32_t head_bytes; /* of the longest */
};

struct pgwire_answer { /* one message of the server */
    char kind; /* its first byte */
    const uint8_t *bytes; /* until the next one is read */
    uint32_t length;
};

struct pgwire_row { /* of a batch */
    uint32_t table, row;
};

struct connection {
    const struct driver *driver;
    struct stream stream;
    uint8_t *body, *out; /* of a window, and the end of what it holds */
    uint32_t due; /* answers to it: statements that are completed */
    bool *is_prepared; /* parts x PGWIRE_SIZES */
    bool *is_present; /* parts: the request has rows of it */
    struct pgwire_row rows[PGWIRE_STATEMENT_ROWS]; /* of one part, not yet in a statement */
    uint32_t row_count;
};

/* Without parameters: Flush, which asks for all answers, and Sync, the end of what belongs
 * together; after an error the server reads on from there. */
enum { PGWIRE_MARK_BYTES = 5 };
extern const uint8_t pgwire_flush[PGWIRE_MARK_BYTES], pgwire_sync[PGWIRE_MARK_BYTES];

/* The way to the server failed. */
enum outcome pgwire_broken(const struct stream *stream, struct fault *fault);

/* An error in the server's words, with its code; for any other message that it was not expected.
 */
enum outcome pgwire_refused(const struct pgwire_answer *answer, struct fault *fault);

/* The next message but notices and reports of parameters. */
bool pgwire_read(struct stream *stream, struct pgwire_answer *answer);

/* Connects, logs in and prepares what each transaction needs, where the connection is not there.
 */
enum outcome pgwire_reach(struct connection *connection, struct fault *fault);
/* Prepares the statement of a part that inserts so many rows. `mark`: PGWIRE_MARK_BYTES. */
enum outcome pgwire_prepare(struct connection *connection, uint32_t part, uint32_t size,
                            const uint8_t *mark, struct fault *fault);

/* One request as a transaction; see pgwire_send.c. */
enum outcome pgwire_send(struct connection *connection, const struct batch *batch,
                         uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault);

/* The first values of each table's rows, and the sizes of statements; see pgwire_rows.c. False:
 * memory is short. */
bool pgwire_make_heads(struct driver *driver);
size_t pgwire_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX]);
uint64_t pgwire_row_bytes(const struct driver *driver);
uint64_t pgwire_insert_bytes(const struct driver *driver, uint32_t size); /* at most */
uint64_t pgwire_parse_bytes(const struct driver *driver); /* at most */
/* The message that prepares a statement; returns its end. */
uint8_t *pgwire_put_parse(const struct driver *driver, uint32_t part, uint32_t size, uint8_t *out);
/* The same for a statement without parameters. */
uint8_t *pgwire_put_parse_of(uint8_t *out, const char *name, const char *statement);
/* The messages that execute a statement: without parameters, or with the values of sizes[size]
 * rows. */
uint8_t *pgwire_put_run(uint8_t *out, const char *name);
uint8_t *pgwire_put_insert(const struct driver *driver, const struct batch *batch, uint32_t part,
                           uint32_t size, const struct pgwire_row *rows, uint8_t *out);

static inline uint32_t pgwire_part_of(const struct driver *d, uint32_t table)
{
    return d->is_parted ? table % d->parts : 0;
}

#endif
