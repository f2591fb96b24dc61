/* Waiting for the server by a request's deadline. Without one libpq itself waits, for as long as
 * it takes; with one the connection does not block and all waiting is done here, for room
 * to send and at once for what the server says, so that neither side waits for the other. */
#include <poll.h>

#include "../deadline.h"
#include "postgres.h"

bool postgres_begin(struct connection *c, uint64_t deadline_ns)
{
    c->deadline_ns = deadline_ns;
    c->is_late = false;
    return c->driver->libpq.set_nonblocking(c->conn, deadline_ns != 0) == 0;
}

/* Waits for any of the events and reads what came; 0: late or broken. */
static short wait_for(struct connection *c, short events)
{
    const struct libpq *p = &c->driver->libpq;
    const short ready = deadline_poll(c->deadline_ns, p->socket(c->conn), events);
    c->is_late = ready == 0;
    if ((ready & POLLIN) && !p->consume(c->conn))
        return 0;
    return ready;
}

bool postgres_flush(struct connection *c)
{
    const struct libpq *p = &c->driver->libpq;
    int is_left = 0;
    while (c->deadline_ns && (is_left = p->flush(c->conn)) == 1)
        if (!wait_for(c, POLLIN | POLLOUT))
            return false;
    return is_left == 0;
}

PGresult *postgres_next_result(struct connection *c)
{
    const struct libpq *p = &c->driver->libpq;
    while (c->deadline_ns && p->is_busy(c->conn))
        if (!wait_for(c, POLLIN)) {
            if (c->is_late)
                return NULL;
            break; /* broken: libpq has a result that says so */
        }
    return p->get_result(c->conn);
}
