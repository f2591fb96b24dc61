/* TDengine's methods `rest` and `ws` through taosAdapter. See taosadapter.c. */
#ifndef SCALE_TAOSADAPTER_H
#define SCALE_TAOSADAPTER_H

#include "tdengine.h"

enum outcome adapter_connect(struct connection *connection, struct fault *fault);
void adapter_disconnect(struct connection *connection);
/* As for the `send` of driver.h. */
void adapter_deadline(struct connection *connection, uint64_t deadline_ns);

/* Like tdengine_run and tdengine_sql. */
enum outcome adapter_run(struct connection *connection, const char *statement, uint64_t *affected,
                         struct fault *fault);
enum outcome adapter_sql(struct connection *connection, const char *statement,
                         const struct result_sink *sink, struct fault *fault);

enum outcome adapter_ask(struct connection *connection, const char *statement, size_t length,
                         struct answer *answer, struct fault *fault);

/* In the order of their ids, with equal ranges: the adapter does not report the real ones, so the
 * tables' vgroups are confirmed. */
enum outcome adapter_route(struct connection *connection, struct taos_route *route,
                           struct fault *fault);
enum outcome adapter_table_vgroups(struct connection *connection, const char *const *tables,
                                   uint32_t count, int *vgroups, struct fault *fault);

enum outcome adapter_ws_send(struct connection *connection, const struct batch *batch,
                             uint64_t *rows_acked, struct fault *fault);

#endif
