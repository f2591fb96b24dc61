/* See http.h. */
#include "http.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define REPLY_BYTES_MAX ((size_t)1 << 28)

/* Without its CR LF; the next unread byte follows it. */
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

struct framing {
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
        return stream_fail(s, "'%.60s' is not an answer of HTTP", line);
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
            return stream_fail(s, "no memory for the answer");
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
        char *end = line;
        chunk = isxdigit((unsigned char)*line) ? strtoul(line, &end, 16) : REPLY_BYTES_MAX + 1;
        if (chunk > REPLY_BYTES_MAX || !strchr("; \t", *end))
            return stream_fail(s, "'%.20s' is not the length of a chunk", line);
        if (!stream_need(s, chunk + 2) || !append(s, &used, chunk))
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
    if (!stream_need(s, framing.length))
        return false;
    reply->body = s->bytes + s->begin;
    reply->length = framing.length;
    reply->body[reply->length] = '\0';
    s->begin += framing.length;
    if (framing.is_last) /* keeps what was read */
        stream_shut(s);
    return true;
}

bool http_post(struct stream *s, const char *host, const char *path, const char *headers,
               const char *body, size_t length, struct http_reply *reply)
{
    char head[1536];
    const int used =
        snprintf(head, sizeof head, "POST %s HTTP/1.1\r\nHost: %s\r\n%sContent-Length: %zu\r\n\r\n",
                 path, host, headers, length);
    if (used < 0 || (size_t)used >= sizeof head)
        return stream_fail(s, "the request's head is too long");
    return stream_write(s, head, (size_t)used, body, length) && read_reply(s, reply);
}

bool http_ask(struct stream *s, const char *request, size_t length, struct http_reply *reply)
{
    return stream_write(s, request, length, NULL, 0) && read_reply(s, reply);
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
        return stream_fail(s, "the request's head is too long");
    if (!stream_write(s, head, (size_t)used, NULL, 0) || !read_head(s, &status, &framing))
        return false;
    return status == 101 || stream_fail(s, "no WebSocket at %s: HTTP status %d", path, status);
}
