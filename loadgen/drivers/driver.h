/* The door to a database: one table of functions per driver, checked before use.
 * A driver knows its client library, which it opens with dlopen, and its own names of tables.
 * It starts no threads, reads no clock, keeps no latencies and prints nothing: it answers with
 * one of three outcomes and says in a fault what went wrong, in the server's words. */
#ifndef SCALE_DRIVER_H
#define SCALE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "../batch.h"
#include "../schema.h"
#include "../spec.h"

#define DRIVER_ABI 1u

enum outcome {
    OUTCOME_OK,
    OUTCOME_ERROR, /* this request failed; the connection is good for the next one */
    OUTCOME_FATAL  /* nothing more can be done: the load stops */
};

enum fault_kind {
    FAULT_SERVER,  /* the server, or the way to it */
    FAULT_LIBRARY, /* the client library is missing, or lacks a symbol */
    FAULT_SPEC     /* the spec asks for what this driver cannot do */
};

struct fault {
    enum fault_kind kind;
    char code[32]; /* the server's own code, as SQLSTATE; a word of ours where it has none */
    char message[480];
    bool is_transient; /* passes by itself: worth trying again, whatever `retries` says */
};

void fault_set(struct fault *fault, enum fault_kind kind, const char *code, const char *format,
               ...) __attribute__((format(printf, 4, 5)));

struct driver_setup { /* read-only, outlives the driver */
    const struct spec *spec;
    const struct schema *schema;
    const char *password; /* from the environment; NULL when there is none */
};

struct driver;     /* the process's part, each driver's own */
struct connection; /* one worker's part, used by one thread at a time */

struct result_sink { /* takes the answer of one SQL statement */
    void *context;
    void (*column)(void *context, const char *name);
    void (*row)(void *context);
    /* text NULL: an SQL NULL; is_number: `text` may stand in JSON without quotes */
    void (*value)(void *context, const char *text, size_t length, bool is_number);
    void (*affected)(void *context, uint64_t rows);
};

struct driver_ops {
    uint32_t abi; /* DRIVER_ABI */
    const char *name;
    const char *const *methods; /* ends with NULL; the first is the default */
    const char *const *options; /* spec keys of its own; ends with NULL */
    const char *libraries;      /* what is looked for, for people; NULL: none is needed */

    /* Required. `open` loads the library; it connects to nothing. */
    enum outcome (*open)(const struct driver_setup *setup, struct driver **driver,
                         struct fault *fault);
    /* Fixes where each table lives: fills partition_of[0 .. tables-1]. */
    enum outcome (*place)(struct driver *driver, uint32_t *partition_of, struct fault *fault);
    enum outcome (*connect)(struct driver *driver, uint32_t worker, struct connection **connection,
                            struct fault *fault);
    /* Sends one request and waits for its answer; *rows_acked is what the server acknowledged. */
    enum outcome (*send)(struct connection *connection, const struct batch *batch,
                         uint64_t *rows_acked, struct fault *fault);
    void (*disconnect)(struct connection *connection);
    void (*close)(struct driver *driver);

    /* Optional: NULL where a driver has no such thing. */
    const char *(*library_path)(const struct driver *driver);
    const char *(*library_version)(const struct driver *driver);
    uint64_t (*row_bytes)(const struct driver *driver); /* encoded size of a row, estimated */
    enum outcome (*create_tables)(struct connection *connection, uint32_t first, uint32_t count,
                                  struct fault *fault);
    enum outcome (*sql)(struct connection *connection, const char *statement,
                        const struct result_sink *sink, struct fault *fault);
};

/* The drivers compiled in, in the order of their names; ends with NULL. */
extern const struct driver_ops *const drivers[];

const struct driver_ops *driver_find(const char *name);

/* NULL when the table is complete, else what it lacks. */
const char *driver_lacks(const struct driver_ops *ops);

/* Whether `key` is an option of the driver, or of any driver when ops is NULL. */
bool driver_has_option(const struct driver_ops *ops, const char *key);
bool driver_has_method(const struct driver_ops *ops, const char *method);

#endif
