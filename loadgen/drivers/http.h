/* A small HTTP/1.1 client: one connection that is kept, POST and an upgrade, bodies with a length
 * or in chunks. It speaks to one trusted server: it follows nothing and does no TLS. */
#ifndef SCALE_HTTP_H
#define SCALE_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream { /* a TCP connection with what was read ahead; begins as {.fd = -1} */
    int fd;     /* -1: not connected */
    char *bytes;
    size_t size, begin, end; /* unread: bytes[begin .. end-1] */
    char *joined;            /* a body that came in chunks */
    size_t joined_size;
    char problem[160]; /* of the last call that failed */
};

struct http_reply {
    int status;
    char *body; /* in the stream, until the next request; a zero byte follows it */
    size_t length;
};

/* All return false after saying in `problem` what went wrong; the connection is then closed. */
bool stream_open(struct stream *stream, const char *host, uint16_t port);
void stream_close(struct stream *stream);
void stream_free(struct stream *stream);
bool stream_write(struct stream *stream, const void *head, size_t head_length, const void *body,
                  size_t body_length);
/* Makes at least `count` unread bytes available at stream->bytes + stream->begin. */
bool stream_need(struct stream *stream, size_t count);

/* `headers`: further header lines, each with its CR LF. */
bool http_post(struct stream *stream, const char *host, const char *path, const char *headers,
               const char *body, size_t length, struct http_reply *reply);
/* Asks for an upgrade to WebSocket; what follows on the stream are its frames. */
bool http_upgrade(struct stream *stream, const char *host, const char *path);

/* base64 of `text` into `out`, which holds http_base64_bytes(length). */
size_t http_base64_bytes(size_t length);
void http_base64(char *out, const void *bytes, size_t length);

#endif
