/* See stream.h. No call blocks, except for the resolver's. */
#include "stream.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../deadline.h"

enum { FIRST_BYTES = 65536, ANSWER_S = 120 };
#define BYTES_MAX ((size_t)1 << 28)

bool stream_fail(struct stream *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->problem, sizeof s->problem, format, arguments);
    va_end(arguments);
    stream_close(s);
    return false;
}

void stream_deadline(struct stream *s, uint64_t deadline_ns)
{
    s->deadline_ns = deadline_ns;
    s->is_late = false;
}

/* False: the deadline, or the time for one answer, has passed. */
static bool wait_for(struct stream *s, short events)
{
    const uint64_t until = s->deadline_ns ? s->deadline_ns : deadline_after_s(ANSWER_S);
    if (deadline_poll(until, s->fd, events))
        return true;
    s->is_late = s->deadline_ns != 0;
    errno = ETIMEDOUT;
    return false;
}

/* Whether the failed call must only wait. */
static bool is_early(void)
{
    return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/* On failure it sets errno and closes the socket. */
static bool connect_to(struct stream *s, const struct sockaddr *address, socklen_t length)
{
    const int one = 1;
    int problem = 0;
    socklen_t size = sizeof problem;
    s->fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return false;
    if (connect(s->fd, address, length) != 0) {
        if (errno != EINPROGRESS || !wait_for(s, POLLOUT))
            problem = errno;
        else
            getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &problem, &size);
    }
    if (problem == 0) {
        setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return true;
    }
    close(s->fd);
    s->fd = -1;
    errno = problem;
    return false;
}

static bool connect_any(struct stream *s, const struct addrinfo *list)
{
    for (; list; list = list->ai_next)
        if (connect_to(s, list->ai_addr, list->ai_addrlen)) {
            memcpy(&s->address, list->ai_addr, list->ai_addrlen);
            s->address_length = list->ai_addrlen;
            return true;
        }
    return false;
}

bool stream_open(struct stream *s, const char *host, uint16_t port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char service[8];
    bool is_open;
    snprintf(service, sizeof service, "%u", port);
    stream_close(s);
    if (s->address_length > 0) {
        is_open = connect_to(s, (const struct sockaddr *)&s->address, s->address_length);
    } else {
        const int code = getaddrinfo(host, service, &hints, &list);
        if (code != 0)
            return stream_fail(s, "cannot resolve '%s': %s", host, gai_strerror(code));
        is_open = connect_any(s, list);
        const int problem = errno;
        freeaddrinfo(list);
        errno = problem;
    }
    return is_open || stream_fail(s, "cannot connect to %s:%u: %s", host, port, strerror(errno));
}

void stream_shut(struct stream *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

void stream_close(struct stream *s)
{
    stream_shut(s);
    s->begin = s->end = 0;
}

void stream_free(struct stream *s)
{
    stream_close(s);
    free(s->bytes);
    free(s->joined);
    *s = (struct stream){.fd = -1};
}

bool stream_write(struct stream *s, const void *head, size_t head_length, const void *body,
                  size_t body_length)
{
    struct iovec parts[2] = {{(void *)(uintptr_t)head, head_length},
                             {(void *)(uintptr_t)body, body_length}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    size_t left = head_length + body_length;
    while (left > 0) {
        const ssize_t sent = sendmsg(s->fd, &message, MSG_NOSIGNAL);
        if (sent < 0 && is_early() && wait_for(s, POLLOUT))
            continue;
        if (sent < 0)
            return stream_fail(s, "cannot send: %s", strerror(errno));
        left -= (size_t)sent;
        for (size_t skip = (size_t)sent, i = 0; i < 2; i++) {
            const size_t part = skip < parts[i].iov_len ? skip : parts[i].iov_len;
            parts[i].iov_base = (char *)parts[i].iov_base + part;
            parts[i].iov_len -= part;
            skip -= part;
        }
    }
    return true;
}

static bool make_room(struct stream *s, size_t count)
{
    if (count > BYTES_MAX)
        return stream_fail(s, "the answer is longer than %zu bytes", BYTES_MAX);
    if (s->begin > 0 && s->begin + count + 1 > s->size) {
        memmove(s->bytes, s->bytes + s->begin, s->end - s->begin);
        s->end -= s->begin;
        s->begin = 0;
    }
    if (count + 1 <= s->size)
        return true;
    const size_t size = count * 2 > FIRST_BYTES ? count * 2 : FIRST_BYTES;
    char *larger = realloc(s->bytes, size);
    if (!larger)
        return stream_fail(s, "out of memory");
    s->bytes = larger;
    s->size = size;
    return true;
}

bool stream_hear(struct stream *s)
{
    for (;;) {
        if (!make_room(s, s->end - s->begin + 1))
            return false;
        const ssize_t got = recv(s->fd, s->bytes + s->end, s->size - s->end - 1, 0);
        if (got < 0 && is_early())
            return true;
        if (got <= 0)
            return stream_fail(s, "%s", got == 0 ? "the connection was closed" : strerror(errno));
        s->end += (size_t)got;
    }
}

bool stream_finish(struct stream *s, uint64_t until_ns)
{
    char dropped[4096];
    ssize_t got = -1;
    if (s->fd < 0)
        return false;
    shutdown(s->fd, SHUT_WR);
    while (deadline_poll(until_ns, s->fd, POLLIN)) {
        got = recv(s->fd, dropped, sizeof dropped, 0);
        if (got == 0 || (got < 0 && !is_early()))
            break;
    }
    stream_close(s);
    return got == 0;
}

bool stream_need(struct stream *s, size_t count)
{
    if (s->fd < 0)
        return stream_fail(s, "not connected");
    while (s->end - s->begin < count) {
        if (!make_room(s, count))
            return false;
        if (!wait_for(s, POLLIN)) /* before each read: a server that sends byte by byte must not
                                     pass the deadline */
            return stream_fail(s, "no answer in time");
        const ssize_t got = recv(s->fd, s->bytes + s->end, s->size - s->end - 1, 0);
        if (got < 0 && is_early())
            continue;
        if (got <= 0)
            return stream_fail(s, "%s", got == 0 ? "the connection was closed" : strerror(errno));
        s->end += (size_t)got;
    }
    return true;
}
