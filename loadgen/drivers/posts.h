/* Rows posted over HTTP/1.1, and queries asked by GET or POST: a driver of databases that take
 * texts of one form is a `post_kind`, each of its methods a `post_form`. A request of more than 8
 * MiB is posted in pieces. Its rows count when the server has answered each piece with a status of
 * 200 to 299. Where a form is unanswered, the text goes over a bare TCP connection. Its rows count
 * when they are sent; what the server says all the same is an error.
 * Options of each such driver, besides its own:
 *   write_path=     where rows are posted
 *   query_path=     where queries are asked, the text behind it; {device} is d<table>
 *   query_posted=1  texts are posted as JSON to query_path instead
 *   query_member=   with it: each text is the string of this member of an object of JSON
 *   query_plain=    characters of a text that go as they are, not encoded
 *   answer_rows=    members of an answer that hold rows (values)
 *   answer_column=  strings of an answer that tell which column the next rows are of
 *   auth_scheme=    Token: the password goes with each request. Basic: the user and the password.
 *                   Only if the driver lists it */
#ifndef SCALE_POSTS_H
#define SCALE_POSTS_H

#include "driver.h"
#include "kept_time.h"
#include "packing.h"

#define POSTS_OPTIONS                                                                              \
    "write_path", "query_path", "query_posted", "query_member", "query_plain", "answer_rows",      \
        "answer_column"

struct post_place { /* place of the next row, or value of a column */
    uint32_t slice, column, row; /* row: within the slice; column: within the request */
    struct kept_time time;
};

struct post_names { /* arguments of `init`; `variant` is the form's own */
    const struct spec *spec;
    const struct schema *schema;
    const char *measurement;
    const void *variant;
    bool is_switched; /* the driver's own switch */
};

struct post_kind { /* shared by the methods of a driver */
    bool (*has)(enum type type);
    const char *lacks;       /* before a column whose type it lacks */
    const char *switch_name; /* an option that is 0 or 1 */
    const char *ms_only;     /* why times must be in ms; NULL: they need not */
    bool is_numbered; /* queries name a table by number, not d<number> */
    size_t encoder_bytes; /* size of what `init` fills, read-only afterwards */
    size_t place_bytes; /* size of the driver's place, which begins with a post_place */

    /* False: out of memory; `drop` follows. */
    bool (*init)(void *encoder, const struct post_names *names);
    void (*drop)(void *encoder);
    /* In a body of its own. */
    uint64_t (*row_bytes)(const void *encoder, uint32_t first_column, uint32_t column_count);
    /* From `place` on, as many rows as fit; returns the end, or `out` for none. *rows: how many are
     * complete. */
    char *(*put)(const void *encoder, const struct batch *batch, void *place, char *out,
                 uint64_t room, uint32_t *rows);
    /* Whether an answer, ending with a zero byte, says that a piece is stored. NULL: its status
     * does. */
    enum outcome (*stored)(const char *answer, uint32_t rows, struct fault *fault);
};

struct post_form { /* one method's own part */
    const struct post_kind *kind;
    const void *variant; /* for `init` */
    bool is_unanswered; /* over bare TCP, without header and path */
    const struct packing *packing; /* compresses the body, as the header says; NULL: none */
    const char *header; /* describe the body, each with its CR LF */
    const char *path; /* unless the spec has write_path */
    uint16_t port;
};

/* Functions of struct driver_ops. */
enum outcome posts_open(const struct driver_setup *setup, struct driver **driver,
                        struct fault *fault);
enum outcome posts_connect(struct driver *driver, uint32_t worker, struct connection **connection,
                           struct fault *fault);
enum outcome posts_send(struct connection *connection, const struct batch *batch,
                        uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault);
void posts_disconnect(struct connection *connection);
void posts_close(struct driver *driver);
uint64_t posts_row_bytes(const struct driver *driver);
size_t posts_table_name(const struct driver *driver, uint32_t table, char out[DRIVER_NAME_MAX]);
enum outcome posts_check_ask(const struct driver *driver, const struct marks *marks,
                             const char *text, struct fault *fault);
enum outcome posts_prepare(struct connection *connection, uint32_t operation, const char *text,
                           struct fault *fault);
enum outcome posts_ask(struct connection *connection, uint32_t operation,
                       const struct parameter *parameters, uint64_t deadline_ns,
                       struct answer *answer, struct fault *fault);

#define POSTS_FUNCTIONS                                                                            \
    .abi = DRIVER_ABI, .open = posts_open, .place = driver_place_in_turn,                          \
    .connect = posts_connect, .send = posts_send, .disconnect = posts_disconnect,                  \
    .close = posts_close, .row_bytes = posts_row_bytes, .table_name = posts_table_name,            \
    .check_ask = posts_check_ask, .prepare = posts_prepare, .ask = posts_ask

#endif
