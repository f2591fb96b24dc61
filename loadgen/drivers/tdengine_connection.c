/* A worker's connection: through libtaos, or to taosAdapter, by the method. What it sends is the
 * business of the method's own file. */
#include <stdlib.h>

#include "taosadapter.h"
#include "tdengine_ask.h"
#include "tdengine_topics.h"

enum { TEXT_BYTES = 1048576 + 65536 };

void tdengine_disconnect(struct connection *c)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->stmt)
        t->stmt_close(c->stmt);
    if (c->taos)
        t->close(c->taos);
    if (c->adapter)
        adapter_disconnect(c);
    topics_disconnect(c);
    tdengine_free_asks(c);
    free(c->binds);
    free(c->text);
    free(c);
}

static enum outcome open_native(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    const struct libtaos *t = &d->taos;
    c->taos = t->connect(d->host, d->user, d->password, d->database, d->port);
    if (!c->taos) {
        tdengine_fault(t->error(NULL), t->error_text(NULL), fault);
        return OUTCOME_FATAL;
    }
    return OUTCOME_OK;
}

enum outcome tdengine_connect(struct driver *d, uint32_t worker, struct connection **connection,
                              struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    enum outcome outcome = OUTCOME_OK;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->text = malloc(TEXT_BYTES);
    c->binds = calloc(d->column_count + 1, sizeof *c->binds);
    if (!c->text || !c->binds)
        outcome = fault_no_memory(fault);
    else if (d->method == METHOD_REST || d->method == METHOD_WS)
        outcome = adapter_connect(c, fault);
    else if (d->method == METHOD_TMQ)
        outcome = topics_connect(c, worker, fault);
    else
        outcome = open_native(c, fault);
    if (outcome == OUTCOME_OK)
        *connection = c;
    else
        tdengine_disconnect(c);
    return outcome;
}
