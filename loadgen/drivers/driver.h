/* The door to a database, version 5: one table of functions per driver, checked before use. A
 * driver starts no threads, reads no clock, keeps no latencies and prints nothing. It waits within
 * a deadline by ../deadline.h. */
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

enum feature {
    /* `send`, `ask` and `submit` return by their deadline, by fault_late when it has passed,
       `complete` by its time. Without it they get 0. */
    FEATURE_DEADLINE = 1u << 0,
    /* Several requests in flight on one connection. */
    FEATURE_DEPTH = 1u << 1,
    /* With setup->is_sending_stubbed, `place` and `connect` ask no server; `send` makes every byte,
       drops it, and acknowledges all rows. */
    FEATURE_SEPARABLE = 1u << 2,
    /* No answers: *rows_acked is what the network took, no times are kept. `disconnect` returns
       when the server has read everything and closed, or after a time. */
    FEATURE_UNANSWERED = 1u << 3,
    /* A subscription: `prepare` takes the names, `ask` waits for the next message and takes the
       sink. It returns at least once a second, by answer->is_quiet. */
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
    const void *form;  /* the driver's own part; all methods have one, or none */
};

struct driver_setup { /* read-only, outlives the driver */
    const struct spec *spec;
    const struct schema *schema;
    const struct driver_method *method; /* one of the driver's own rows */
    const char *password;    /* from the environment; NULL when there is none */
    bool is_sending_stubbed; /* set for methods with FEATURE_SEPARABLE only */
};

struct driver;     /* the process's part, each driver's own */
struct connection; /* one worker's, used by one thread at a time */

struct result_sink { /* takes the answer of one SQL statement */
    void *context;
    void (*column)(void *context, const char *name);
    void (*row)(void *context);
    /* text NULL: an SQL NULL; is_number: JSON without quotes */
    void (*value)(void *context, const char *text, size_t length, bool is_number);
    void (*affected)(void *context, uint64_t rows);
    /* The whole answer if it is a text such as JSON. NULL: rows are wanted. */
    void (*body)(void *context, const char *text, size_t length);
};

enum { OPERATIONS_MAX = 128 }; /* the most operations of a load */
enum { DRIVER_NAME_MAX = 256 };

struct parameter { /* in the order of the marks */
    bool is_table;  /* `table` by the driver's own name; else a value */
    bool is_part;   /* the number of its partition: if has_parts */
    uint32_t table;
    enum type type;
    const void *value; /* as in a batch; NULL: an SQL NULL */
    int32_t length;    /* bytes of text */
};

struct answer { /* read completely by the driver */
    bool wants_digest; /* without it no value need be looked at */
    /* Takes the rows in their order, by sink_values.h. The driver counts those of a checked answer,
     * the sink those of a subscription. NULL: none. */
    const struct result_sink *sink;
    bool is_handed; /* the whole content went to the sink */
    bool is_end; /* subscriptions: no message will come */
    bool is_quiet; /* subscriptions: no message yet; the core asks again */
    int64_t newest_ns; /* subscriptions: time in the last row, since 1970; 0: not known */
    uint64_t rows, values, bytes;
    uint64_t digest; /* see digest.h */
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

    /* `open` reads the spec, refuses what this driver cannot do, and connects to nothing. */
    enum outcome (*open)(const struct driver_setup *setup, struct driver **driver,
                         struct fault *fault);
    /* Fills partition_of[0 .. tables-1]. */
    enum outcome (*place)(struct driver *driver, uint32_t *partition_of, struct fault *fault);
    enum outcome (*connect)(struct driver *driver, uint32_t worker, struct connection **connection,
                            struct fault *fault);
    /* Waits for the answer; *rows_acked is what the server acknowledged. deadline_ns: of
     * CLOCK_MONOTONIC, 0: none. */
    enum outcome (*send)(struct connection *connection, const struct batch *batch,
                         uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault);
    void (*disconnect)(struct connection *connection);
    void (*close)(struct driver *driver);

    /* NULL where a driver has no such thing. */
    /* After `open`, before all others. */
    enum outcome (*load_library)(struct driver *driver, struct fault *fault);
    const char *(*library_path)(const struct driver *driver);
    const char *(*library_version)(const struct driver *driver);
    /* The version of TLS, such as TLSv1.3; NULL: the connection is not encrypted by it. */
    const char *(*tls_version)(const struct connection *connection);
    uint64_t (*row_bytes)(const struct driver *driver); /* encoded size of a row, estimated */
    /* As in a query, once the tables are placed; returns its length. */
    size_t (*table_name)(const struct driver *driver, uint32_t table, char out[DRIVER_NAME_MAX]);
    enum outcome (*create_tables)(struct connection *connection, uint32_t first, uint32_t count,
                                  struct fault *fault);
    enum outcome (*sql)(struct connection *connection, const char *statement,
                        const struct result_sink *sink, struct fault *fault);

    /* Both or none. `prepare` makes an operation below OPERATIONS_MAX ready; its text has the marks
     * of marks.h and outlives the connection. `ask` runs it with a parameter for each mark and
     * reads the whole answer. */
    bool has_parts; /* texts may name the partition of a table */
    /* Refuses a text before it connects. */
    enum outcome (*check_ask)(const struct driver *driver, const struct marks *marks,
                              const char *text, struct fault *fault);
    enum outcome (*prepare)(struct connection *connection, uint32_t operation, const char *text,
                            struct fault *fault);
    enum outcome (*ask)(struct connection *connection, uint32_t operation,
                        const struct parameter *parameters, uint64_t deadline_ns,
                        struct answer *answer, struct fault *fault);

    /* Both with FEATURE_DEPTH, none without. The batch of `submit` is the driver's until its ticket
     * is completed. `complete` waits until any request is answered, or until the time. An outcome
     * but OK is the connection's, with all requests in flight; a fault of one comes with its
     * completion. */
    enum outcome (*submit)(struct connection *connection, const struct batch *batch,
                           uint64_t ticket, uint64_t deadline_ns, struct fault *fault);
    enum outcome (*complete)(struct connection *connection, uint64_t until_ns,
                             struct completion *completion, struct fault *fault);
};

/* For databases without a placement: tables go to the partitions in turn. The driver begins with
 * its setup. */
static inline enum outcome driver_place_in_turn(struct driver *driver, uint32_t *partition_of,
                                                struct fault *fault)
{
    const struct driver_setup *const *setup = (const struct driver_setup *const *)driver;
    const struct spec *spec = (*setup)->spec;
    (void)fault;
    for (uint32_t table = 0; table < spec->tables; table++)
        partition_of[table] = table % (uint32_t)spec->partitions;
    return OUTCOME_OK;
}

/* As spec_option_whole; false with a fault. */
static inline bool driver_option(const struct spec *spec, const char *name, uint64_t least,
                                 uint64_t most, uint64_t *value, struct fault *fault)
{
    char why[160];
    return spec_option_whole(spec, name, least, most, value, why, sizeof why) ||
           fault_spec(fault, "%s", why) == OUTCOME_OK;
}

/* In the order of their names; ends with NULL. */
extern const struct driver_ops *const drivers[];

const struct driver_ops *driver_find(const char *name);

/* NULL: it is complete. */
const char *driver_lacks(const struct driver_ops *ops);

/* ops NULL: of any driver. */
bool driver_has_option(const struct driver_ops *ops, const char *key);

/* NULL when the driver has no such method. */
const struct driver_method *driver_find_method(const struct driver_ops *ops, const char *name);

#endif
