/* What posts.c and posts_ask.c share: a driver over HTTP and one of its connections. */
#ifndef SCALE_POSTS_PARTS_H
#define SCALE_POSTS_PARTS_H

#include "http.h"
#include "posts.h"

enum { HEADER_BYTES = 1024 };

struct driver {
    const struct driver_setup *setup;
    const struct post_form *form;
    void *made; /* by the form */
    const char *host, *path;
    char authorization[HEADER_BYTES / 2]; /* a header line with its CR LF; "" where none is asked */
    char header[HEADER_BYTES]; /* of rows: the form's header lines and authorization */
    char ask_header[HEADER_BYTES]; /* the same of queries that are posted */
    uint16_t port;
    uint32_t first_column, column_count;
};

struct posts_ask; /* see posts_ask.c */

struct connection {
    const struct driver *driver;
    struct stream stream;
    void *place; /* of the request */
    char *body;
    uint64_t body_size;
    struct packer *packer; /* NULL where nothing is compressed */
    struct posts_ask *asks[OPERATIONS_MAX];
};

/* Connects where the connection is not there. */
enum outcome posts_reach(struct connection *connection, struct fault *fault);

/* The way to the server failed. */
enum outcome posts_broken(const struct stream *stream, struct fault *fault);

/* What a status other than 200 to 299 says. */
enum outcome posts_refused(const struct http_reply *reply, struct fault *fault);

void posts_free_asks(struct connection *connection);

#endif
