/* Rows posted over HTTP/1.1, and queries asked by GET, for drivers whose requests are
 * bodies of one form: no client library, one connection that is kept. A request of more than 8 MiB
 * is posted in several pieces. Its rows count when the server has answered each piece with a status
 * of 200 to 299. Where the form is unanswered, the same text goes over a bare TCP connection. Its
 * rows count when they are sent. What the server says all the same is an error, in its words.
 * It knows no form: a driver says it in a `post_form`. */
#ifndef SCALE_POSTS_H
#define SCALE_POSTS_H

#include "driver.h"
#include "packing.h"

struct post_form {
    bool is_unanswered; /* over bare TCP; header and path are not used */
    const struct packing *packing; /* of the body, as the header says; NULL: none */
    const char *header; /* what the body is, as header lines with their CR LF */
    const char *path;   /* where it is posted unless the spec has write_path */
    uint16_t port;
    /* What stands for a table in a query; NULL where none are asked. */
    size_t (*name)(const void *form, uint32_t table, char out[DRIVER_NAME_MAX]);
    uint32_t place_bytes; /* of what `put` keeps on a connection */

    /* `form` is what `make` made; `fault` says what the spec asks for that it cannot do. */
    void *(*make)(const struct driver_setup *setup, struct fault *fault);
    void (*drop)(void *form);
    /* The most bytes that a row takes, and a body in which it is the only one. */
    uint64_t (*row_bytes)(const void *form, uint32_t first_column, uint32_t column_count);
    void (*begin)(void *place); /* of a request: the next row is its first */
    /* Puts rows of the batch from `place` on, as many as fit into `room` bytes; returns the end of
     * the text, which is `out` where there is nothing to post. *rows: how many it completes. */
    char *(*put)(const void *form, const struct batch *batch, void *place, char *out, uint64_t room,
                 uint32_t *rows);
};

/* The functions of a driver whose methods have a `post_form`. */
enum outcome posts_open(const struct driver_setup *setup, struct driver **driver,
                        struct fault *fault);
enum outcome posts_place(struct driver *driver, uint32_t *partition_of, struct fault *fault);
enum outcome posts_connect(struct driver *driver, uint32_t worker, struct connection **connection,
                           struct fault *fault);
enum outcome posts_send(struct connection *connection, const struct batch *batch,
                        uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault);
void posts_disconnect(struct connection *connection);
void posts_close(struct driver *driver);
uint64_t posts_row_bytes(const struct driver *driver);

/* Queries, for a form that has names: see posts_ask.c. */
size_t posts_table_name(const struct driver *driver, uint32_t table, char out[DRIVER_NAME_MAX]);
enum outcome posts_check_ask(const struct driver *driver, const struct marks *marks,
                             const char *text, struct fault *fault);
enum outcome posts_prepare(struct connection *connection, uint32_t operation, const char *text,
                           struct fault *fault);
enum outcome posts_ask(struct connection *connection, uint32_t operation,
                       const struct parameter *parameters, uint64_t deadline_ns,
                       struct answer *answer, struct fault *fault);

#endif
