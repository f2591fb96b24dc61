/* A session of IoTDB over Thrift; reads answers by column (TSQueryDataSet). */
#ifndef SCALE_IOTDB_SESSION_H
#define SCALE_IOTDB_SESSION_H

#include "driver.h"
#include "thrift.h"

struct iotdb_session { /* begins as {.stream.fd = -1} */
    struct stream stream;
    int64_t id, statement_id; /* given by the server */
    uint32_t calls;           /* number of the next call */
};

enum { IOTDB_SUCCESS = 200, IOTDB_REDIRECTION = 400, IOTDB_SEVERAL = 302, IOTDB_REJECTED = 606 };

struct iotdb_status {
    int32_t code; /* 0: the answer has none */
    char words[400];
};

/* Unless one is open. Its fault is transient: nothing was sent. */
enum outcome iotdb_reach(struct iotdb_session *session, const struct driver_setup *setup,
                         struct fault *fault);
void iotdb_leave(struct iotdb_session *session);
enum outcome iotdb_read_status(struct iotdb_session *session, uint32_t number, struct fault *fault);

enum outcome iotdb_cut(struct iotdb_session *session, struct fault *fault);

enum iotdb_kind {
    IOTDB_UNKNOWN,
    IOTDB_WHOLE32,
    IOTDB_WHOLE64,
    IOTDB_TIME, /* a millisecond, the server's precision */
    IOTDB_FLOAT,
    IOTDB_DOUBLE,
    IOTDB_BOOL,
    IOTDB_TEXT,
    IOTDB_BYTES
};

struct iotdb_column {
    struct thrift_text name; /* valid until the next answer is read */
    enum iotdb_kind kind;
    uint32_t place;             /* place of its part */
    struct thrift_in values;    /* values of the rows that have one */
    struct thrift_text present; /* bit 7 of byte 0 is the first row's */
};

struct iotdb_set {
    struct iotdb_status status;
    int64_t query; /* given by the server */
    struct iotdb_column *columns;
    struct iotdb_part *parts;
    uint32_t column_count, part_count; /* without a part there are no rows */
    struct thrift_in times;
    bool has_times;
    bool has_more; /* another page may follow */
    bool is_short; /* out of memory */
};

struct iotdb_value {
    int64_t whole;
    double real;
    struct thrift_text text;
};

/* Answers to executeStatement, then to each fetchResults of `rows_max` rows. Free the set in any
 * case. */
enum outcome iotdb_read_set(struct iotdb_session *session, uint32_t number, struct iotdb_set *set,
                            struct fault *fault);
enum outcome iotdb_read_more(struct iotdb_session *session, uint32_t number, uint32_t rows_max,
                             struct iotdb_set *set, struct fault *fault);
void iotdb_free_set(struct iotdb_set *set);

/* Rows of the last page, by its times or bitmaps; 0: empty. */
uint64_t iotdb_set_rows(const struct iotdb_set *set);
uint64_t iotdb_set_bytes(const struct iotdb_set *set); /* bytes of the set's times and values */
bool iotdb_is_present(const struct iotdb_column *column, uint64_t row);

/* False: there is none, or its type is unknown. */
bool iotdb_take_value(struct iotdb_column *column, struct iotdb_value *value);

#endif
