/* What the files of the driver of Cassandra share: the process's part, a connection, and the faults
 * of both. */
#ifndef SCALE_CASSANDRA_PARTS_H
#define SCALE_CASSANDRA_PARTS_H

#include "cql.h"
#include "driver.h"

enum { CASSANDRA_BODY_BYTES = 1 << 22, CASSANDRA_IN_FLIGHT_MAX = 1024 };

struct driver {
    const struct driver_setup *setup;
    const char *host;
    uint16_t port;
    uint32_t first_column, column_count;
    uint64_t batch_rows, page_rows;
    char *insert;
};

struct cassandra_ask; /* see cassandra_ask.c */

struct connection {
    const struct driver *driver;
    struct stream stream;
    struct cql_id insert; /* the prepared statement */
    uint8_t *body; /* of a request */
    uint32_t flown; /* batches of this piece of the request */
    uint32_t rows[CASSANDRA_IN_FLIGHT_MAX]; /* of each of them */
    struct cassandra_ask *asks[OPERATIONS_MAX];
};

/* Connects and prepares the statement that inserts, where the connection is not there. */
enum outcome cassandra_reach(struct connection *connection, struct fault *fault);

/* The way to the server failed. */
enum outcome cassandra_broken(const struct stream *stream, struct fault *fault);

/* What the server said instead of what was expected. */
enum outcome cassandra_refused(const struct cql_answer *answer, struct fault *fault);

enum outcome cassandra_connect(struct driver *driver, uint32_t worker,
                               struct connection **connection, struct fault *fault);
void cassandra_disconnect(struct connection *connection);

/* Queries: see cassandra_ask.c. */
size_t cassandra_table_name(const struct driver *driver, uint32_t table, char out[DRIVER_NAME_MAX]);
enum outcome cassandra_check_ask(const struct driver *driver, const struct marks *marks,
                                 const char *text, struct fault *fault);
enum outcome cassandra_prepare(struct connection *connection, uint32_t operation, const char *text,
                               struct fault *fault);
enum outcome cassandra_ask(struct connection *connection, uint32_t operation,
                           const struct parameter *parameters, uint64_t deadline_ns,
                           struct answer *answer, struct fault *fault);
void cassandra_free_asks(struct connection *connection);

#endif
