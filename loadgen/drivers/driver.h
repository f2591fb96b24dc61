/* The door to a database, version 5: one table of functions per driver, checked before use. A
 * driver starts no threads, reads no clock, keeps no latencies and prints nothing. It answers with
 * an outcome, and a fault in the server's words. It waits within a deadline by ../deadline.h. */
#ifndef SCALE_DRIVER_H
#define SCALE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "../batch.h"
#include "../marks.h"
#include "../schema.h"
#include "../spec.h"
#include "fault.h"

#define DRIVER_ABI 5u

/* Abilities of a method beyond sending a request and waiting. */
enum feature {
    /* `send`, `ask` and `submit` return by their deadline, by fault_late when it has passed,
     * `complete` by its time. Without it they get 0. */
    FEATURE_DEADLINE = 1u << 0,
    /* `submit` and `complete`: several requests in flight on one connection. */
    FEATURE_DEPTH = 1u << 1,
    /* With setup->is_sending_stubbed, `place` and `connect` ask no server, and `send` makes every
     * byte, drops it instead of sending it, and acknowledges all rows. */
    FEATURE_SEPARABLE = 1u << 2,
    /* The protocol has no answers: *rows_acked is what the network took, and no times are kept.
     * `disconnect` returns when the server has read everything and closed too, or after a time. */
    FEATURE_UNANSWERED = 1u << 3,
    /* A connection is a subscription: `prepare` takes the names, `ask` waits for the next message,
     * sets answer->is_end at the end, and takes the sink. It returns at least once a second, by
     * answer->is_quiet. */
    FEATURE_SUBSCRIBES = 1u << 4
};

enum {
    FEATURES_ALL = FEATURE_DEADLINE | FEATURE_DEPTH | FEATURE_SEPARABLE | FEATURE_UNANSWERED |
        FEATURE_SUBSCRIBES,
    FEATURE_COUNT = 5
};

extern const char *const feature_names[FEATURE_COUNT]; /* by bit */

struct driver_method {
    const char *name;  /* NULL: the end of the list */
    uint32_t features; /* bits of enum feature */
    const void *form;  /* the driver's own part of the method; of all methods or of none */
};

struct driver_setup { /* read-only, outlives the driver */
    const struct spec *spec;
    const struct schema *schema;
    const struct driver_method *method; /* one of the driver's own rows */
    const char *password;    /* from the environment; NULL when there is none */
    bool is_sending_stubbed; /* set for methods with FEATURE_SEPARABLE only */
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
    /* Takes the whole answer in place of rows, if it is a text such as JSON. NULL: rows are wanted.
     */
    void (*body)(void *context, const char *text, size_t length);
};

enum { OPERATIONS_MAX = 128 }; /* the most operations of a load */
enum { DRIVER_NAME_MAX = 256 };

struct parameter { /* one value of a query, in the order of the marks in its text */
    bool is_table;  /* the table `table`, by the driver's own name; else a value */
    bool is_part;   /* and of it the number of its partition: of drivers with has_parts */
    uint32_t table;
    enum type type;
    const void *value; /* as in a column of a batch; NULL: an SQL NULL */
    int32_t length;    /* bytes of text */
};

struct answer { /* the answer to a query; the driver has read all of it */
    bool wants_digest; /* asked for by the core; without it no value need be looked at */
    /* Takes the rows in their order, by sink_values.h: of a subscription, which it counts, or of a
     * checked answer, which the driver counts. NULL: none. */
    const struct result_sink *sink;
    bool is_handed; /* set by a driver that has handed the whole content to the sink */
    bool is_end; /* subscriptions only: no message came, and none will come */
    bool is_quiet; /* subscriptions only: no message has come yet; the core asks again */
    int64_t newest_ns; /* subscriptions only: time in the last row, since 1970; 0: not known */
    uint64_t rows, values, bytes;
    uint64_t digest; /* the same for the same values in the same order: see digest.h */
};

struct completion { /* the answer to one request in flight */
    bool is_any; /* false: none was answered in time */
    uint64_t ticket;
    enum outcome outcome; /* outcome of this request alone */
    uint64_t rows_acked;
};

struct driver_ops {
    uint32_t abi; /* DRIVER_ABI */
    const char *name;
    const struct driver_method *methods; /* the first is the default */
    const char *const *options; /* spec keys of its own; ends with NULL */
    const char *libraries; /* names for people; NULL: none is needed */

    /* Required. `open` reads the spec and refuses what this driver cannot do. It connects to
     * nothing. */
    enum outcome (*open)(const struct driver_setup *setup, struct driver **driver,
                         struct fault *fault);
    /* Fixes where each table lives: fills partition_of[0 .. tables-1]. */
    enum outcome (*place)(struct driver *driver, uint32_t *partition_of, struct fault *fault);
    enum outcome (*connect)(struct driver *driver, uint32_t worker, struct connection **connection,
                            struct fault *fault);
    /* Sends one request and waits for its answer; *rows_acked is what the server acknowledged.
     * deadline_ns is a time of CLOCK_MONOTONIC, 0: none. */
    enum outcome (*send)(struct connection *connection, const struct batch *batch,
                         uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault);
    void (*disconnect)(struct connection *connection);
    void (*close)(struct driver *driver);

    /* Optional: NULL where a driver has no such thing. */
    /* Opens the client library; after `open`, before all others. */
    enum outcome (*load_library)(struct driver *driver, struct fault *fault);
    const char *(*library_path)(const struct driver *driver);
    const char *(*library_version)(const struct driver *driver);
    uint64_t (*row_bytes)(const struct driver *driver); /* encoded size of a row, estimated */
    /* The name of a table in a query, once the tables are placed; returns its length. */
    size_t (*table_name)(const struct driver *driver, uint32_t table, char out[DRIVER_NAME_MAX]);
    enum outcome (*create_tables)(struct connection *connection, uint32_t first, uint32_t count,
                                  struct fault *fault);
    enum outcome (*sql)(struct connection *connection, const char *statement,
                        const struct result_sink *sink, struct fault *fault);

    /* Both or none. `prepare` makes an operation below OPERATIONS_MAX ready; its text has the marks
     * of marks.h and outlives the connection. `ask` runs it once, with a parameter for each mark,
     * and reads the whole answer. */
    bool has_parts; /* texts may name the partition of a table */
    /* Optional, with `ask`: refuses a text that this driver cannot ask, before it connects. */
    enum outcome (*check_ask)(const struct driver *driver, const struct marks *marks,
                              const char *text, struct fault *fault);
    enum outcome (*prepare)(struct connection *connection, uint32_t operation, const char *text,
                            struct fault *fault);
    enum outcome (*ask)(struct connection *connection, uint32_t operation,
                        const struct parameter *parameters, uint64_t deadline_ns,
                        struct answer *answer, struct fault *fault);

    /* Both with FEATURE_DEPTH, none without. `submit` sends a request without waiting; its batch is
     * the driver's until the ticket is completed. `complete` waits until any request is answered,
     * or until the time: then none is. An outcome but OK is the connection's, with all requests in
     * flight; a fault of one comes with its completion. */
    enum outcome (*submit)(struct connection *connection, const struct batch *batch,
                           uint64_t ticket, uint64_t deadline_ns, struct fault *fault);
    enum outcome (*complete)(struct connection *connection, uint64_t until_ns,
                             struct completion *completion, struct fault *fault);
};

/* Placement where the database has none of its own: tables go to the partitions in turn. The
 * driver begins with its setup. */
enum outcome driver_place_in_turn(struct driver *driver, uint32_t *partition_of,
                                  struct fault *fault);

/* Reads an option as a whole number, as spec_option_whole does; false with a fault. */
static inline bool driver_option(const struct spec *spec, const char *name, uint64_t least,
                                 uint64_t most, uint64_t *value, struct fault *fault)
{
    char why[160];
    return spec_option_whole(spec, name, least, most, value, why, sizeof why) ||
           fault_spec(fault, "%s", why) == OUTCOME_OK;
}

/* The drivers compiled in, in the order of their names; ends with NULL. */
extern const struct driver_ops *const drivers[];

const struct driver_ops *driver_find(const char *name);

/* NULL when the table is complete, else what it lacks. */
const char *driver_lacks(const struct driver_ops *ops);

/* Whether `key` is an option of the driver, or of any driver when ops is NULL. */
bool driver_has_option(const struct driver_ops *ops, const char *key);

/* NULL when the driver has no such method. */
const struct driver_method *driver_find_method(const struct driver_ops *ops, const char *name);

#endif
