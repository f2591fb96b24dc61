/* HTTP/1.1 over a blocking socket; see http.h. */
#include "http.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FIRST_BYTES = 65536, ANSWER_S = 120 };
#define REPLY_BYTES_MAX ((size_t)1 << 28)

static bool fail(struct stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool fail(struct stream *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->problem, sizeof s->problem, format, arguments);
    va_end(arguments);
    stream_close(s);
    return false;
}

static int connect_any(const struct addrinfo *list)
{
    const int one = 1;
    const struct timeval limit = {.tv_sec = ANSWER_S};
    for (; list; list = list->ai_next) {
        const int fd = socket(list->ai_family, list->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd < 0)
            continue;
        if (connect(fd, list->ai_addr, list->ai_addrlen) == 0) {
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
            setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
            setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
            return fd;
        }
        const int problem = errno;
        close(fd);
        errno = problem;
    }
    return -1;
}

bool stream_open(struct stream *s, const char *host, uint16_t port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    char service[8];
    snprintf(service, sizeof service, "%u", port);
    stream_close(s);
    const int code = getaddrinfo(host, service, &hints, &list);
    if (code != 0)
        return fail(s, "cannot resolve '%s': %s", host, gai_strerror(code));
    s->fd = connect_any(list);
    freeaddrinfo(list);
    if (s->fd < 0)
        return fail(s, "cannot connect to %s:%u: %s", host, port, strerror(errno));
    return true;
}

void stream_close(struct stream *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
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
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return fail(s, "cannot send: %s", strerror(errno));
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

/* Room for `count` unread bytes and a zero behind them. */
static bool make_room(struct stream *s, size_t count)
{
    if (s->begin > 0 && s->begin + count + 1 > s->size) {
        memmove(s->bytes, s->bytes + s->begin, s->end - s->begin);
        s->end -= s->begin;
        s->begin = 0;
    }
    if (count + 1 <= s->size)
        return true;
    if (count > REPLY_BYTES_MAX)
        return fail(s, "the answer is longer than %zu bytes", REPLY_BYTES_MAX);
    const size_t size = count * 2 > FIRST_BYTES ? count * 2 : FIRST_BYTES;
    char *larger = realloc(s->bytes, size);
    if (!larger)
        return fail(s, "out of memory");
    s->bytes = larger;
    s->size = size;
    return true;
}

bool stream_need(struct stream *s, size_t count)
{
    if (s->fd < 0)
        return fail(s, "not connected");
    while (s->end - s->begin < count) {
        if (!make_room(s, count))
            return false;
        const ssize_t got = recv(s->fd, s->bytes + s->end, s->size - s->end - 1, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(s, "%s", got == 0 ? "the connection was closed" : strerror(errno));
        s->end += (size_t)got;
    }
    return true;
}

/* A line without its CR LF, as a string; what follows is the next unread byte. */
static bool read_line(struct stream *s, char *line, size_t size)
{
    for (size_t n = 1;; n++) {
        if (!stream_need(s, n))
            return false;
        if (s->bytes[s->begin + n - 1] != '\n')
            continue;
        const size_t length = n >= 2 && s->bytes[s->begin + n - 2] == '\r' ? n - 2 : n - 1;
        snprintf(line, size, "%.*s", (int)length, s->bytes + s->begin);
        s->begin += n;
        return true;
    }
}

struct framing { /* of a reply's body */
    size_t length;
    bool is_chunked, is_last;
};

static bool read_head(struct stream *s, int *status, struct framing *framing)
{
    char line[1024];
    *framing = (struct framing){0};
    if (!read_line(s, line, sizeof line))
        return false;
    if (sscanf(line, "HTTP/1.%*d %d", status) != 1)
        return fail(s, "'%.60s' is no answer of HTTP", line);
    for (;;) {
        if (!read_line(s, line, sizeof line))
            return false;
        if (!*line)
            return true;
        if (strncasecmp(line, "content-length:", 15) == 0)
            framing->length = strtoull(line + 15, NULL, 10);
        else if (strncasecmp(line, "transfer-encoding:", 18) == 0)
            framing->is_chunked = strcasestr(line, "chunked") != NULL;
        else if (strncasecmp(line, "connection:", 11) == 0)
            framing->is_last = strcasestr(line, "close") != NULL;
    }
}

static bool append(struct stream *s, size_t *used, size_t count)
{
    if (*used + count + 1 > s->joined_size) {
        const size_t size = (*used + count + 1) * 2;
        char *larger = size < REPLY_BYTES_MAX ? realloc(s->joined, size) : NULL;
        if (!larger)
            return fail(s, "no memory for the answer");
        s->joined = larger;
        s->joined_size = size;
    }
    memcpy(s->joined + *used, s->bytes + s->begin, count);
    *used += count;
    s->joined[*used] = '\0';
    return true;
}

static bool read_chunks(struct stream *s, struct http_reply *reply)
{
    char line[64];
    size_t chunk, used = 0;
    do {
        if (!read_line(s, line, sizeof line))
            return false;
        chunk = strtoul(line, NULL, 16);
        if (chunk > REPLY_BYTES_MAX || !stream_need(s, chunk + 2) || !append(s, &used, chunk))
            return false;
        s->begin += chunk + 2;
    } while (chunk > 0);
    reply->body = s->joined;
    reply->length = used;
    return true;
}

static bool read_reply(struct stream *s, struct http_reply *reply)
{
    struct framing framing;
    do {
        if (!read_head(s, &reply->status, &framing))
            return false;
    } while (reply->status == 100);
    if (framing.is_chunked)
        return read_chunks(s, reply);
    if (!make_room(s, framing.length) || !stream_need(s, framing.length))
        return false;
    reply->body = s->bytes + s->begin;
    reply->length = framing.length;
    reply->body[reply->length] = '\0';
    s->begin += framing.length;
    if (framing.is_last) {
        close(s->fd);
        s->fd = -1;
    }
    return true;
}

bool http_post(struct stream *s, const char *host, const char *path, const char *headers,
               const char *body, size_t length, struct http_reply *reply)
{
    char head[1536];
    const int used = snprintf(head, sizeof head,
                              "POST %s HTTP/1.1\r\nHost: %s\r\n%sContent-Length: %zu\r\n\r\n",
                              path, host, headers, length);
    if (used < 0 || (size_t)used >= sizeof head)
        return fail(s, "the request's head is too long");
    return stream_write(s, head, (size_t)used, body, length) && read_reply(s, reply);
}

bool http_upgrade(struct stream *s, const char *host, const char *path)
{
    char head[512];
    int status;
    struct framing framing;
    const int used = snprintf(head, sizeof head,
                              "GET %s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\n"
                              "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: c2NhbGUtbG9hZGdlbi13cw==\r\n\r\n",
                              path, host);
    if (used < 0 || (size_t)used >= sizeof head)
        return fail(s, "the request's head is too long");
    if (!stream_write(s, head, (size_t)used, NULL, 0) || !read_head(s, &status, &framing))
        return false;
    return status == 101 || fail(s, "no WebSocket at %s: HTTP status %d", path, status);
}

size_t http_base64_bytes(size_t length)
{
    return (length + 2) / 3 * 4 + 1;
}

void http_base64(char *out, const void *bytes, size_t length)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = bytes;
    for (size_t i = 0; i < length; i += 3) {
        const uint32_t left = length - i < 3 ? (uint32_t)(length - i) : 3;
        uint32_t word = (uint32_t)in[i] << 16;
        word |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        word |= left > 2 ? in[i + 2] : 0;
        for (uint32_t digit = 0; digit < 4; digit++)
            *out++ = digit <= left ? digits[word >> (18 - 6 * digit) & 63] : '=';
    }
    *out = '\0';
}
