/* Shared by the TDengine driver and its fuzzing harness: libtaos, state of process and workers.
 * Written from the documented interface, without a header of TDengine. */
#ifndef SCALE_TDENGINE_H
#define SCALE_TDENGINE_H

#include "driver.h"

typedef void TAOS;
typedef void TAOS_RES;
typedef void TAOS_STMT;

enum { TAOS_CONFIG_DIR = 3 };

enum { STMT_ROWS_MAX = 32767, SQL_BYTES_MAX = 1048576 - 1024 };

struct taos_bind { /* one column; its layout is the library's */
    int type;
    void *buffer;
    uintptr_t buffer_length;
    int32_t *length;
    char *is_null;
    int rows;
};

_Static_assert(sizeof(struct taos_bind) == 48 || sizeof(void *) != 8, "layout of libtaos");

struct taos_field {
    char name[65];
    int8_t type;
    int32_t bytes;
};

_Static_assert(sizeof(struct taos_field) == 72, "layout of libtaos");

struct taos_range { /* the hashes of one vgroup's tables */
    int32_t vgroup;
    uint32_t begin, end;
};

struct taos_route { /* the caller that asked frees the ranges */
    int32_t version;
    int16_t prefix, suffix;
    int8_t hash_method;
    int32_t count;
    struct taos_range *ranges;
};

_Static_assert(sizeof(struct taos_route) == 24 || sizeof(void *) != 8, "layout of libtaos");

struct libtaos {
    void *handle;
    char path[512];
    int (*options)(int option, const void *value, ...);
    TAOS *(*connect)(const char *host, const char *user, const char *password, const char *db,
                     uint16_t port);
    void (*close)(TAOS *);
    const char *(*client_info)(void);
    TAOS_RES *(*query)(TAOS *, const char *);
    int (*error)(TAOS_RES *);
    char *(*error_text)(TAOS_RES *);
    int (*affected)(TAOS_RES *);
    void (*free_result)(TAOS_RES *);
    int (*field_count)(TAOS_RES *);
    struct taos_field *(*fields)(TAOS_RES *);
    void **(*fetch_row)(TAOS_RES *);
    int *(*lengths)(TAOS_RES *);
    int (*fetch_block)(TAOS_RES *, int *rows, void **block);
    int (*route)(TAOS *, const char *db, struct taos_route *);
    int (*tables_vgroup)(TAOS *, const char *db, const char **tables, int count, int *vgroups);
    TAOS_STMT *(*stmt_init)(TAOS *);
    int (*stmt_prepare)(TAOS_STMT *, const char *, unsigned long);
    int (*stmt_table)(TAOS_STMT *, const char *);
    int (*stmt_bind)(TAOS_STMT *, struct taos_bind *);
    int (*stmt_add)(TAOS_STMT *);
    int (*stmt_execute)(TAOS_STMT *);
    int (*stmt_affected)(TAOS_STMT *);
    char *(*stmt_error)(TAOS_STMT *);
    int (*stmt_close)(TAOS_STMT *);
    TAOS_RES *(*schemaless)(TAOS *, char *lines, int length, int32_t *rows, int protocol,
                            int precision);
};

enum method {
    METHOD_STMT,
    METHOD_SQL,
    METHOD_LINE,
    METHOD_TELNET,
    METHOD_JSON,
    METHOD_REST,
    METHOD_WS,
    METHOD_TMQ
};

struct driver {
    const struct driver_setup *setup;
    enum method method;
    const char *host, *user, *password, *database, *table, *prefix;
    uint16_t port, adapter_port;
    struct libtaos taos;
    uint32_t *number_of; /* name <prefix><number_of[t]>; NULL: <prefix><first + t> */
    uint32_t first_table; /* earlier ones belong to other processes */
    bool creates; /* an insertion names supertable and tags */
    uint32_t first_column, column_count;
    struct topics_library *topics; /* used by the method tmq */
};

struct adapter;      /* see taosadapter.h */
struct tdengine_ask; /* see tdengine_query.c */
struct consumer;     /* see tdengine_query.c */
struct topics_library;

struct connection {
    struct driver *driver;
    struct adapter *adapter; /* for rest and ws, which have no TAOS */
    struct consumer *consumer; /* for tmq, which has no TAOS */
    TAOS *taos;
    TAOS_STMT *stmt;
    bool is_prepared;
    uint32_t prepared_table; /* with `creates`: whose tags the statement has */
    struct taos_bind *binds;
    char *text; /* a statement, or lines, to be sent */
    struct tdengine_ask *asks[OPERATIONS_MAX];
};

/* Names the table of schemaless lines; the server does not keep it. */
#define TDENGINE_NAME_TAG "dev"

enum { TABLE_NAME_MAX = 200, TDENGINE_NAME_MAX = 192 };

/* Returns the end of a table's " USING `db`.`meters` TAGS (...)". */
char *tdengine_put_using(const struct driver *driver, uint32_t table, char *out);
uint32_t
tdengine_using_bytes(const struct driver *driver); /* the most bytes of tdengine_put_using */

size_t tdengine_table_name(const struct driver *driver, uint32_t table, char *out);

/* Returns what it means for the load. */
enum outcome tdengine_fault(int code, const char *words, struct fault *fault);
enum outcome tdengine_sql(struct connection *connection, const char *statement,
                          const struct result_sink *sink, struct fault *fault);

/* Without rows; *affected may be NULL. */
enum outcome tdengine_run(struct connection *connection, const char *statement, uint64_t *affected,
                          struct fault *fault);
int tdengine_type(enum type type); /* TDengine's number of a type */
enum outcome tdengine_stmt_send(struct connection *connection, const struct batch *batch,
                                uint64_t *rows_acked, struct fault *fault);
enum outcome tdengine_sql_send(struct connection *connection, const struct batch *batch,
                               uint64_t *rows_acked, struct fault *fault);
bool tdengine_schemaless_has(enum method method, const struct column *column);
enum outcome tdengine_schemaless_send(struct connection *connection, const struct batch *batch,
                                      uint64_t *rows_acked, struct fault *fault);

/* At most tdengine_value_bytes; returns its end. */
char *tdengine_put_value(char *out, const struct column *column, const struct column_data *data,
                         uint32_t row);
uint32_t tdengine_value_bytes(const struct column *column);

/* Functions of struct driver_ops. */
enum outcome tdengine_check_ask(const struct driver *driver, const struct marks *marks,
                                const char *text, struct fault *fault);
enum outcome tdengine_prepare(struct connection *connection, uint32_t operation, const char *text,
                              struct fault *fault);
enum outcome tdengine_ask(struct connection *connection, uint32_t operation,
                          const struct parameter *parameters, uint64_t deadline_ns,
                          struct answer *answer, struct fault *fault);

/* In ns since 1970, if the block's first column is a time; else *ns is unchanged. */
void raw_block_last_time(const void *block, int64_t ns_per_unit, int64_t *ns);

/* Into the digest and the sink, if any. ns_per_unit: of timestamps. False: malformed. */
bool raw_block_take(const void *block, int64_t ns_per_unit, uint64_t *digest,
                    const struct result_sink *sink);

enum outcome topics_open(struct driver *driver, struct fault *fault);
enum outcome topics_load_library(struct driver *driver, struct fault *fault);
void topics_free_library(struct driver *driver);
enum outcome topics_connect(struct connection *connection, uint32_t worker, struct fault *fault);
void topics_disconnect(struct connection *connection);

#endif
