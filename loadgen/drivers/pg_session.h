/* Version 3 of the PostgreSQL protocol without a library: login (no password, or in clear text),
 * prepared statements. */
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

/* Flush requests all answers so far. Sync ends a group; after an error the server skips to it. */
enum { PG_MARK_BYTES = 5 };
extern const uint8_t pg_flush[PG_MARK_BYTES], pg_sync[PG_MARK_BYTES];

/* With these names in place of missing ones. */
struct pg_server pg_server_of(const struct driver_setup *setup, const char *user,
                              const char *database);

/* Connects, logs in, and returns when the server waits for statements. */
enum outcome pg_connect(struct stream *stream, const struct pg_server *server, struct fault *fault);

/* Prepares `count` statements with a mark behind them, after a Sync until the server is ready. */
enum outcome pg_prepare(struct stream *stream, const uint8_t *text, const uint8_t *end,
                        uint32_t count, const uint8_t *mark, struct fault *fault);

/* Skips notices and reports of parameters. */
bool pg_read(struct stream *stream, struct pg_answer *answer);

/* The server's error, or an unexpected message. */
enum outcome pg_refused(const struct pg_answer *answer, struct fault *fault);

/* Behind "INSERT 0 "; 0 for other statements. */
uint64_t pg_rows(const struct pg_answer *answer);

/* A fault unless all rows of the request are acknowledged. */
enum outcome pg_acknowledge(uint64_t acked, const struct batch *batch, uint64_t *rows_acked,
                            struct fault *fault);

unsigned pg_oid(enum type type);

/* A timestamp becomes a whole number. A fault for a type that the writer, such as "an INSERT",
 * cannot write. */
enum outcome pg_take_columns(const struct driver_setup *setup, const char *writer,
                             struct column **columns, uint32_t *first, uint32_t *count,
                             struct fault *fault);

/* Fills in kind and length of a complete message; returns its end. */
uint8_t *pg_end_message(uint8_t *begin, char kind, uint8_t *out);

uint8_t *pg_put_words(uint8_t *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

uint8_t *pg_put_execute(uint8_t *out);

#endif
