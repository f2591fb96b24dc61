/* Shared by the MariaDB driver: libmariadb, state of process and workers. */
#ifndef SCALE_MARIADB_H
#define SCALE_MARIADB_H

#include "driver.h"

typedef struct st_mysql MYSQL;
typedef struct st_mysql_stmt MYSQL_STMT;
typedef struct st_mysql_res MYSQL_RES;

struct maria_field {
    char *name, *org_name, *table, *org_table, *db, *catalog, *def;
    unsigned long length, max_length;
    unsigned name_length, org_name_length, table_length, org_table_length, db_length;
    unsigned catalog_length, def_length, flags, decimals, charset;
    int type;
    void *extension;
};

struct maria_bind {
    unsigned long *length;
    char *is_null;
    void *buffer;
    char *error;
    char *indicator; /* flags of an array, 1 for NULL */
    void *own[3];
    unsigned long buffer_length, offset, length_value;
    unsigned flags, pack_length;
    int type;
    char error_value, is_unsigned, long_data_used, is_null_value;
    void *extension;
};

enum { /* types of values */
       MARIA_DECIMAL = 0,
       MARIA_TINY = 1,
       MARIA_SHORT = 2,
       MARIA_LONG = 3,
       MARIA_FLOAT = 4,
       MARIA_DOUBLE = 5,
       MARIA_LONGLONG = 8,
       MARIA_INT24 = 9,
       MARIA_NEWDECIMAL = 246,
       MARIA_STRING = 254
};

/* Goes on with a call after these events; returns those that it waits for, 0: it has ended with
 * *code. */
typedef int maria_continue(int *code, void *object, int ready);

struct libmariadb {
    void *handle;
    char path[512];
    MYSQL *(*init)(MYSQL *);
    int (*options)(MYSQL *, int option, const void *);
    MYSQL *(*connect)(MYSQL *, const char *host, const char *user, const char *password,
                      const char *database, unsigned port, const char *socket, unsigned long flags);
    void (*close)(MYSQL *);
    unsigned (*error_number)(MYSQL *);
    const char *(*error)(MYSQL *);
    const char *(*state)(MYSQL *);
    int (*socket)(const MYSQL *);
    int (*query_start)(int *code, MYSQL *, const char *, unsigned long);
    int (*prepare_start)(int *code, MYSQL_STMT *, const char *, unsigned long);
    int (*execute_start)(int *code, MYSQL_STMT *);
    int (*fetch_start)(int *code, MYSQL_STMT *);
    maria_continue *query_go_on, *prepare_go_on, *execute_go_on, *fetch_go_on;
    unsigned long long (*affected)(MYSQL *);
    unsigned (*warnings)(MYSQL *);
    struct maria_field *(*fields)(MYSQL_RES *);
    void (*free_result)(MYSQL_RES *);
    const char *(*client_version)(void);
    void (*set_infile)(MYSQL *, int (*)(void **, const char *, void *),
                       int (*)(void *, char *, unsigned), void (*)(void *),
                       int (*)(void *, char *, unsigned), void *);
    MYSQL_STMT *(*stmt_init)(MYSQL *);
    char (*stmt_set)(MYSQL_STMT *, int attribute, const void *);
    char (*stmt_bind)(MYSQL_STMT *, struct maria_bind *);
    unsigned long long (*stmt_affected)(MYSQL_STMT *);
    unsigned (*stmt_columns)(MYSQL_STMT *);
    MYSQL_RES *(*stmt_result)(MYSQL_STMT *);
    char (*stmt_bind_result)(MYSQL_STMT *, struct maria_bind *);
    int (*stmt_fetch_column)(MYSQL_STMT *, struct maria_bind *, unsigned column, unsigned long);
    char (*stmt_free)(MYSQL_STMT *);
    char (*stmt_close)(MYSQL_STMT *);
    unsigned (*stmt_error_number)(MYSQL_STMT *);
    const char *(*stmt_error)(MYSQL_STMT *);
    const char *(*stmt_state)(MYSQL_STMT *);
};

enum maria_method { METHOD_LOAD_DATA, METHOD_INSERT };

struct driver {
    const struct driver_setup *setup;
    const char *table;
    enum maria_method method;
    struct libmariadb library;
    char *write; /* the statement that writes rows */
    uint64_t row_bytes; /* most bytes of a row as text */
};

struct maria_answer; /* see mariadb_answers.c */

struct maria_arrays { /* parameters of a bulk statement, made by the first request */
    uint32_t rows;
    uint32_t *devices;
    struct maria_bind *binds; /* device, time, columns */
    char ***texts;            /* values of a column with text, else NULL */
    unsigned long **lengths;
    char **nulls;
};

struct connection {
    struct driver *driver;
    MYSQL *mysql;
    uint64_t deadline_ns; /* deadline of the current request; 0: none */
    bool is_late;         /* it has passed: the connection is shut down */
    MYSQL_STMT *insert;
    struct maria_arrays arrays;
    const struct batch *batch; /* rows of the LOAD DATA that runs */
    const struct slice *slice;
    uint32_t row;                /* next row of the batch */
    char *text;                  /* one row, encoded */
    uint32_t text_used, text_at; /* its bytes, and those that were handed over */
    struct maria_answer *asks[OPERATIONS_MAX];
};

enum outcome maria_load_library(struct libmariadb *library, const char *wanted,
                                struct fault *fault);

/* Calls that wait within the deadline of the last maria_begin. They return as libmariadb's. */
void maria_begin(struct connection *c, uint64_t deadline_ns);
int maria_query(struct connection *c, const char *text, unsigned long length);
int maria_stmt_prepare(struct connection *c, MYSQL_STMT *stmt, const char *text,
                       unsigned long length);
int maria_stmt_execute(struct connection *c, MYSQL_STMT *stmt);
int maria_stmt_fetch(struct connection *c, MYSQL_STMT *stmt);

/* The last error, or the passed deadline. */
enum outcome maria_fault(struct connection *c, struct fault *fault);
enum outcome maria_stmt_fault(struct connection *c, MYSQL_STMT *stmt, struct fault *fault);

enum outcome maria_prepare(struct connection *c, uint32_t operation, const char *text,
                           struct fault *fault);
enum outcome maria_ask(struct connection *c, uint32_t operation, const struct parameter *parameters,
                       uint64_t deadline_ns, struct answer *answer, struct fault *fault);
enum outcome maria_check_ask(const struct driver *driver, const struct marks *marks,
                             const char *text, struct fault *fault);
enum outcome maria_sql(struct connection *c, const char *statement, const struct result_sink *sink,
                       struct fault *fault);
void maria_free_asks(struct connection *c);

enum outcome maria_open_rows(struct driver *driver, struct fault *fault);
enum outcome maria_send(struct connection *c, const struct batch *batch, uint64_t deadline_ns,
                        uint64_t *rows_acked, struct fault *fault);
void maria_take_infile(struct connection *c);
void maria_free_rows(struct connection *c);

#endif
