/* Waits within the deadline, by the non-blocking calls of libmariadb. A passed deadline shuts the
 * connection down: libmariadb cannot leave a call in another way. */
#include <poll.h>
#include <sys/socket.h>

#include "../deadline.h"
#include "mariadb.h"

enum { WAIT_READ = 1, WAIT_WRITE = 2, WAIT_EXCEPT = 4 }; /* events, as libmariadb has them */

static int events_of(int wanted)
{
    return (wanted & WAIT_READ ? POLLIN : 0) | (wanted & WAIT_WRITE ? POLLOUT : 0) |
           (wanted & WAIT_EXCEPT ? POLLPRI : 0);
}

static int ready_of(int events)
{
    const int broken = events & (POLLERR | POLLHUP) ? WAIT_READ | WAIT_WRITE : 0;
    return broken | (events & POLLIN ? WAIT_READ : 0) | (events & POLLOUT ? WAIT_WRITE : 0) |
           (events & POLLPRI ? WAIT_EXCEPT : 0);
}

static int finished(struct connection *c, int wanted, int code, void *object, maria_continue *go_on)
{
    const int fd = c->driver->library.socket(c->mysql);
    while (wanted) {
        const int events =
            c->is_late ? POLLHUP : deadline_poll(c->deadline_ns, fd, (short)events_of(wanted));
        if (events == 0) {
            c->is_late = true;
            shutdown(fd, SHUT_RDWR);
            continue;
        }
        wanted = go_on(&code, object, ready_of(events));
    }
    return code;
}

void maria_begin(struct connection *c, uint64_t deadline_ns)
{
    c->deadline_ns = deadline_ns;
}

int maria_query(struct connection *c, const char *text, unsigned long length)
{
    const struct libmariadb *m = &c->driver->library;
    int code = 0;
    const int wanted = m->query_start(&code, c->mysql, text, length);
    return finished(c, wanted, code, c->mysql, m->query_go_on);
}

int maria_stmt_prepare(struct connection *c, MYSQL_STMT *stmt, const char *text,
                       unsigned long length)
{
    const struct libmariadb *m = &c->driver->library;
    int code = 0;
    const int wanted = m->prepare_start(&code, stmt, text, length);
    return finished(c, wanted, code, stmt, m->prepare_go_on);
}

int maria_stmt_execute(struct connection *c, MYSQL_STMT *stmt)
{
    const struct libmariadb *m = &c->driver->library;
    int code = 0;
    const int wanted = m->execute_start(&code, stmt);
    return finished(c, wanted, code, stmt, m->execute_go_on);
}

int maria_stmt_fetch(struct connection *c, MYSQL_STMT *stmt)
{
    const struct libmariadb *m = &c->driver->library;
    int code = 0;
    const int wanted = m->fetch_start(&code, stmt);
    return finished(c, wanted, code, stmt, m->fetch_go_on);
}
