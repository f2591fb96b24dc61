/* Version 3 of the PostgreSQL protocol without a library: login (no password, or one in clear
 * text), prepared statements and their answers. */
#ifndef SCALE_PG_SESSION_H
#define SCALE_PG_SESSION_H

#include "driver.h"
#include "fault.h"
#include "stream.h"

struct pg_server { /* where and as whom to log in */
    const char *host, *user, *database;
    const char *password; /* NULL: none */
    uint16_t port;
};

struct pg_answer { /* one message of the server */
    char kind; /* its first byte */
    const uint8_t *bytes; /* valid until the next message is read */
    uint32_t length;
};

/* Messages without content. Flush requests all answers so far. Sync ends a group; after an error
 * the server skips to it. */
enum { PG_MARK_BYTES = 5 };
extern const uint8_t pg_flush[PG_MARK_BYTES], pg_sync[PG_MARK_BYTES];

/* The server of the spec, with these names in place of missing ones. */
struct pg_server pg_server_of(const struct driver_setup *setup, const char *user,
                              const char *database);

/* Connects and logs in, and returns when the server waits for statements. */
enum outcome pg_connect(struct stream *stream, const struct pg_server *server, struct fault *fault);

/* Sends messages that prepare `count` statements, with a mark behind them, and reads their answers,
 * after a Sync until the server is ready. */
enum outcome pg_prepare(struct stream *stream, const uint8_t *text, const uint8_t *end,
                        uint32_t count, const uint8_t *mark, struct fault *fault);

/* Reads the next message, and skips notices and reports of parameters. */
bool pg_read(struct stream *stream, struct pg_answer *answer);

/* Makes a fault of the server's error with its code and message, or of a message that was not
 * expected. */
enum outcome pg_refused(const struct pg_answer *answer, struct fault *fault);

/* Reads the number behind "INSERT 0 "; 0 for other statements. */
uint64_t pg_rows(const struct pg_answer *answer);

/* Sets *rows_acked if the server has acknowledged all rows of the request, else makes a fault. */
enum outcome pg_acknowledge(uint64_t acked, const struct batch *batch, uint64_t *rows_acked,
                            struct fault *fault);

/* The object id of a column's type, as pg_values.h writes its values. */
unsigned pg_oid(enum type type);

/* Copies the columns of a request, a timestamp as a whole number. A fault for a type that the
 * writer, such as "an INSERT", cannot write. */
enum outcome pg_take_columns(const struct driver_setup *setup, const char *writer,
                             struct column **columns, uint32_t *first, uint32_t *count,
                             struct fault *fault);

/* Fills in the kind and the length of a message that is complete, and returns its end. */
uint8_t *pg_end_message(uint8_t *begin, char kind, uint8_t *out);

/* Writes formatted text, and returns its end. */
uint8_t *pg_put_words(uint8_t *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes the message that runs what was bound last. */
uint8_t *pg_put_execute(uint8_t *out);

#endif
