/* A small HTTP/1.1 client: POST, GET and an upgrade, without redirection. */
#ifndef SCALE_HTTP_H
#define SCALE_HTTP_H

#include "stream.h"

struct http_reply {
    int status;
    char *body; /* in the stream until the next request, with a zero byte behind */
    size_t length;
};

/* `headers`: further lines, each with its CR LF. These functions fail like stream_write. */
bool http_post(struct stream *stream, const char *host, const char *path, const char *headers,
               const char *body, size_t length, struct http_reply *reply);
bool http_ask(struct stream *stream, const char *request, size_t length, struct http_reply *reply);
/* To WebSocket, whose frames follow on the stream. */
bool http_upgrade(struct stream *stream, const char *host, const char *path);

#endif
