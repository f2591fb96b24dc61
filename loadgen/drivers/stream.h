/* One TCP connection and what was read from it. Waits end by the request's deadline, or after a
 * time of their own. */
#ifndef SCALE_STREAM_H
#define SCALE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "fault.h"

struct stream { /* begins as {.fd = -1} */
    int fd;     /* -1: not connected */
    char *bytes;
    size_t size, begin,
        end; /* unread: bytes[begin .. end-1]; the byte at `end` may be overwritten */
    char *joined;            /* http.c: a body in chunks */
    size_t joined_size;
    struct sockaddr_storage
        address; /* address of the first connection; later ones need no resolver */
    socklen_t address_length;
    uint64_t deadline_ns; /* deadline of the current request; 0: none */
    bool is_late;         /* the last call failed by its deadline */
    char problem[160];    /* why the last call failed */
};

void stream_deadline(struct stream *stream, uint64_t deadline_ns);

/* False: the reason is in `problem`, and the connection is closed. */
bool stream_open(struct stream *stream, const char *host, uint16_t port);
void stream_close(struct stream *stream);
void stream_shut(struct stream *stream); /* closes, and keeps unread bytes */
void stream_free(struct stream *stream);
bool stream_write(struct stream *stream, const void *head, size_t head_length, const void *body,
                  size_t body_length);
/* At least `count` unread bytes at stream->bytes + stream->begin. */
bool stream_need(struct stream *stream, size_t count);
/* Without waiting; there may be no unread bytes. */
bool stream_hear(struct stream *stream);
/* Waits until the server has read everything and closed too; then closes in any case. */
bool stream_finish(struct stream *stream, uint64_t until_ns);
/* OUTCOME_ERROR, or OUTCOME_FATAL if the deadline has passed. */
static inline enum outcome stream_fault(const struct stream *stream, struct fault *fault)
{
    return fault_broken(fault, stream->is_late, stream->problem);
}

/* Transient, for no row was sent yet. */
static inline enum outcome stream_fault_unsent(const struct stream *stream, struct fault *fault)
{
    const enum outcome outcome = stream_fault(stream, fault);
    fault->is_transient = outcome == OUTCOME_ERROR;
    return outcome;
}

/* Closes the connection with a reason; returns false. */
bool stream_fail(struct stream *stream, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
