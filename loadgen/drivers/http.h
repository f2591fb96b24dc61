/* A small HTTP/1.1 client: one connection that is kept, POST, GET and an upgrade, bodies with a
 * length or in chunks. It speaks to one trusted server: it follows nothing. */
#ifndef SCALE_HTTP_H
#define SCALE_HTTP_H

#include "stream.h"

struct http_reply {
    int status;
    char *body; /* in the stream, until the next request; a zero byte follows it */
    size_t length;
};

/* `headers`: further header lines, each with its CR LF. As stream_write when they fail. */
bool http_post(struct stream *stream, const char *host, const char *path, const char *headers,
               const char *body, size_t length, struct http_reply *reply);
/* A request that its caller has written, head and all. */
bool http_ask(struct stream *stream, const char *request, size_t length, struct http_reply *reply);
/* Asks for an upgrade to WebSocket; what follows on the stream are its frames. */
bool http_upgrade(struct stream *stream, const char *host, const char *path);

/* base64 of `text` into `out`, which holds http_base64_bytes(length). */
size_t http_base64_bytes(size_t length);
void http_base64(char *out, const void *bytes, size_t length);

#endif
