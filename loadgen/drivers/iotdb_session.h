/* A session of IoTDB over Thrift: opened and closed, its calls numbered, their status read. */
#ifndef SCALE_IOTDB_SESSION_H
#define SCALE_IOTDB_SESSION_H

#include "driver.h"
#include "thrift.h"

struct iotdb_session { /* begins as {.stream.fd = -1} */
    struct stream stream;
    int64_t id, statement_id; /* by the server */
    uint32_t calls;           /* the number of the next one */
};

enum { IOTDB_SUCCESS = 200, IOTDB_REDIRECTION = 400, IOTDB_SEVERAL = 302, IOTDB_REJECTED = 606 };

struct iotdb_status {
    int32_t code; /* 0: the answer has none */
    char words[400];
};

/* Each returns an outcome: OUTCOME_ERROR for what the server refused, with its code and words, and
 * for a broken connection, which is closed then and opened by the next iotdb_reach. */

/* Opens a session unless one is open; a fault of it is transient, since nothing was sent. */
enum outcome iotdb_reach(struct iotdb_session *session, const struct driver_setup *setup,
                         struct fault *fault);
void iotdb_leave(struct iotdb_session *session);

/* The answer to the call of this number, which returns a structure: its reader, or the status that
 * it is. */
enum outcome iotdb_read(struct iotdb_session *session, uint32_t number, struct thrift_in *in,
                        struct fault *fault);
enum outcome iotdb_read_status(struct iotdb_session *session, uint32_t number, struct fault *fault);

/* Of a structure TSStatus that the reader is in. */
void iotdb_take_status(struct thrift_in *in, struct iotdb_status *status);
enum outcome iotdb_judge(const struct iotdb_status *status, struct fault *fault);

/* What an answer that ends too early is. */
enum outcome iotdb_cut(struct iotdb_session *session, struct fault *fault);
enum outcome iotdb_broken(const struct iotdb_session *session, struct fault *fault);

#endif
