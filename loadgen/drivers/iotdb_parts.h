/* What the files of the driver of IoTDB share: the process's part, and a connection with the bytes
 * of its request. */
#ifndef SCALE_IOTDB_PARTS_H
#define SCALE_IOTDB_PARTS_H

#include "iotdb_calls.h"
#include "iotdb_session.h"
#include "iotdb_set.h"

enum iotdb_method { IOTDB_TABLET, IOTDB_TABLETS, IOTDB_RECORDS };

struct driver {
    const struct driver_setup *setup;
    struct iotdb_form form;
    enum iotdb_method method;
    uint64_t page_rows;
};

struct iotdb_ask; /* see iotdb_ask.c */

struct connection {
    const struct driver *driver;
    struct iotdb_session session;
    uint8_t *bytes; /* grows to the largest request */
    uint64_t size;
    struct iotdb_ask *asks[OPERATIONS_MAX];
};

/* Room for the request, with what is written there already. */
bool iotdb_make_room(struct connection *connection, uint64_t bytes);

/* The next call of the connection. */
struct iotdb_call iotdb_call_of(struct connection *connection, const struct batch *batch);

size_t iotdb_table_name(const struct driver *driver, uint32_t table, char out[DRIVER_NAME_MAX]);

/* The first page of the statement's answer, where the set is {0}, or else the next one; has_more of
 * the set says whether to go on. Room for the call is made already. */
enum outcome iotdb_ask_page(struct connection *connection, const struct iotdb_statement *asked,
                            struct iotdb_set *set, struct fault *fault);

/* Queries: see iotdb_ask.c. */
enum outcome iotdb_check_ask(const struct driver *driver, const struct marks *marks,
                             const char *text, struct fault *fault);
enum outcome iotdb_prepare(struct connection *connection, uint32_t operation, const char *text,
                           struct fault *fault);
enum outcome iotdb_ask(struct connection *connection, uint32_t operation,
                       const struct parameter *parameters, uint64_t deadline_ns,
                       struct answer *answer, struct fault *fault);
void iotdb_free_asks(struct connection *connection);

#endif
