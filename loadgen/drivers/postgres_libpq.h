/* Shared by the PostgreSQL driver and its fuzzing harness: libpq, state of process and workers. */
#ifndef SCALE_POSTGRES_LIBPQ_H
#define SCALE_POSTGRES_LIBPQ_H

#include "driver.h"

/* libpq's types and numbers, from its documented interface. */
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;

enum { CONNECTION_GOOD = 0 };
enum {
    RES_EMPTY = 0,
    RES_COMMAND = 1,
    RES_TUPLES = 2,
    RES_COPY_OUT = 3,
    RES_COPY_IN = 4,
    RES_SINGLE_TUPLE = 9
};
enum { FIELD_SQLSTATE = 'C' };

struct libpq {
    void *handle;
    char path[512];
    char version[16];
    PGconn *(*connect)(const char *const *keys, const char *const *values, int expand);
    int (*status)(const PGconn *);
    char *(*error)(const PGconn *);
    void (*finish)(PGconn *);
    PGresult *(*exec)(PGconn *, const char *);
    int (*send_query)(PGconn *, const char *);
    PGresult *(*prepare)(PGconn *, const char *name, const char *, int count,
                         const unsigned *types);
    int (*send_prepared)(PGconn *, const char *name, int count, const char *const *values,
                         const int *lengths, const int *formats, int result_format);
    int (*single_row)(PGconn *);
    PGresult *(*get_result)(PGconn *);
    int (*result_status)(const PGresult *);
    char *(*result_error)(const PGresult *);
    char *(*result_field)(const PGresult *, int field);
    char *(*tuples_done)(PGresult *);
    int (*row_count)(const PGresult *);
    int (*column_count)(const PGresult *);
    char *(*column_name)(const PGresult *, int column);
    unsigned (*column_type)(const PGresult *, int column);
    char *(*value)(const PGresult *, int row, int column);
    int (*length)(const PGresult *, int row, int column);
    int (*is_null)(const PGresult *, int row, int column);
    void (*clear)(PGresult *);
    int (*put_data)(PGconn *, const char *, int);
    int (*put_end)(PGconn *, const char *);
    int (*get_data)(PGconn *, char **buffer, int async);
    void (*free_data)(void *);
    int (*set_nonblocking)(PGconn *, int);
    int (*socket)(const PGconn *);
    int (*flush)(PGconn *);
    int (*is_busy)(PGconn *);
    int (*consume)(PGconn *);
    int (*lib_version)(void);
};

enum postgres_method {
    METHOD_COPY,
    METHOD_INSERT,
    METHOD_UPSERT,
    METHOD_COPY_UPSERT,
    METHOD_JSONB
};

struct driver {
    const struct driver_setup *setup;
    const char *table;
    enum postgres_method method;
    struct libpq libpq;
    uint32_t *device_of; /* device_id of each table, once placed */
    uint64_t row_bytes;  /* most bytes of a row in COPY's format */
    char copy[8192];     /* the COPY statement */
    char *insert;        /* prepares the INSERT; NULL: another method */
    char *staged; /* COPY into a temporary table, INSERT from it; NULL: another method */
    struct postgres_json *json; /* names of the members; NULL: another method */
};

struct postgres_ask; /* see postgres.c */
struct postgres_arrays; /* see postgres_rows.c */

struct connection {
    struct driver *driver;
    PGconn *conn;
    uint8_t *buffer; /* encoded rows */
    enum {
        WAY_UNKNOWN,
        WAY_SOCKET,
        WAY_LIBRARY,
        WAY_NOWHERE
    } way; /* how the data of COPY is sent */
    bool has_template; /* the buffer holds counts and lengths of rows of fixed length */
    uint64_t deadline_ns; /* deadline of the current request; 0: none */
    struct postgres_ask *asks[OPERATIONS_MAX];
    struct postgres_arrays *arrays; /* made by the first INSERT */
    bool has_stage; /* the session has its temporary table */
    bool is_late; /* the deadline passed before the answer came */
};

enum outcome postgres_load_library(struct libpq *libpq, const char *wanted, struct fault *fault);

/* result NULL: of the connection. */
enum outcome postgres_fault(const struct libpq *libpq, PGconn *conn, const PGresult *result,
                            struct fault *fault);

/* Within the deadline, after `begin`: false or NULL when it has passed (is_late) or the connection
 * is broken. `flush` waits until the server has taken everything. */
bool postgres_begin(struct connection *connection, uint64_t deadline_ns);
bool postgres_flush(struct connection *connection);
PGresult *postgres_next_result(struct connection *connection);

/* The whole answer, so that the connection is ready again. */
enum outcome postgres_take_answer(struct connection *connection, uint64_t *rows_acked,
                                  struct fault *fault);

#endif
