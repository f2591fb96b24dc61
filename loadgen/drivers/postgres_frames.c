/* Data of COPY to the server. Where the connection is neither under TLS nor under GSS, its frames
 * go straight into the socket, without the copy that libpq makes of them: after the answer to COPY
 * libpq has sent all of its own, and in the state of COPY it keeps no account of the data. All
 * before and after the data is libpq's, and everything that is read. */
#include <dlfcn.h>
#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "../deadline.h"
#include "postgres.h"

typedef int in_use_function(PGconn *);

/* Whether both functions are there and say that nothing is encrypted. */
static bool is_plain(const struct connection *c)
{
    in_use_function *tls = NULL, *gss = NULL;
    void *const handle = c->driver->libpq.handle;
    *(void **)&tls = dlsym(handle, "PQsslInUse");
    *(void **)&gss = dlsym(handle, "PQgssEncInUse");
    return tls && gss && !tls(c->conn) && !gss(c->conn);
}

/* The stream broke in a frame: no byte must follow. libpq gets the end of the data, so that it
 * looks for the server's last words. */
static bool cut(struct connection *c, int fd)
{
    shutdown(fd, SHUT_WR);
    (void)c->driver->libpq.put_end(c->conn, NULL);
    return false;
}

/* Waits for room; what the server says meanwhile is read, so that it can go on. */
static bool wait_for_room(struct connection *c, int fd)
{
    const short ready = deadline_poll(c->deadline_ns, fd, POLLIN | POLLOUT);
    c->is_late = ready == 0;
    if (ready & POLLIN)
        return c->driver->libpq.consume(c->conn) || cut(c, fd);
    return !c->is_late;
}

static bool send_frame(struct connection *c, const uint8_t *frame, size_t bytes)
{
    const int fd = c->driver->libpq.socket(c->conn);
    while (bytes > 0) {
        const ssize_t sent = send(fd, frame, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            frame += sent;
            bytes -= (size_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_for_room(c, fd))
                return false;
        } else if (errno != EINTR) {
            return cut(c, fd);
        }
    }
    return true;
}

bool postgres_put_data(struct connection *c, uint8_t *data, size_t bytes)
{
    const struct libpq *p = &c->driver->libpq;
    const uint32_t length = htobe32((uint32_t)bytes + 4);
    if (c->way == WAY_NOWHERE) /* sending is stubbed: the rows are made and dropped */
        return true;
    if (c->way == WAY_UNKNOWN)
        c->way = is_plain(c) ? WAY_SOCKET : WAY_LIBRARY;
    if (c->way == WAY_SOCKET && p->flush(c->conn) == 0) {
        data[-POSTGRES_FRAME_BYTES] = 'd';
        memcpy(data - 4, &length, sizeof length);
        return send_frame(c, data - POSTGRES_FRAME_BYTES, bytes + POSTGRES_FRAME_BYTES);
    }
    return postgres_flush(c) && /* the piece before, so that libpq keeps one at most */
           p->put_data(c->conn, (const char *)data, (int)bytes) == 1;
}
