/* stream.h without a socket: what the server answers is the tape, and what it is sent is read once
 * and dropped. Unread bytes lie in memory of exactly their size, which moves with each read, so
 * that a sanitizer sees who reads too far or keeps a pointer too long. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/stream.h"
#include "fuzz.h"

enum { ANY_FD = 1000000 };

static size_t read_ahead; /* bytes beyond those that are needed */

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

bool stream_open(struct stream *s, const char *host, uint16_t port)
{
    stream_close(s);
    if (fuzz_left() == 0)
        return stream_fail(s, "cannot connect to %s:%u: the tape has ended", host, port);
    s->fd = ANY_FD;
    read_ahead = fuzz_take8() % 32;
    return true;
}

void stream_shut(struct stream *s)
{
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

static uint32_t sum(const void *bytes, size_t length)
{
    uint32_t found = 0;
    for (size_t i = 0; i < length; i++)
        found += ((const uint8_t *)bytes)[i];
    return found;
}

bool stream_write(struct stream *s, const void *head, size_t head_length, const void *body,
                  size_t body_length)
{
    static volatile uint32_t seen; /* so that the bytes are read */
    seen += sum(head, head_length) + sum(body, body_length);
    return s->fd >= 0 || stream_fail(s, "cannot send");
}

/* Takes `count` bytes more, and those that the connection reads ahead. */
static bool hear(struct stream *s, size_t count)
{
    const size_t unread = s->end - s->begin;
    if (count > fuzz_left())
        return stream_fail(s, "the connection was closed");
    const size_t most = fuzz_left() - count, got = count + (read_ahead < most ? read_ahead : most);
    char *bytes = malloc(unread + got + 1);
    if (!bytes)
        abort();
    if (unread)
        memcpy(bytes, s->bytes + s->begin, unread);
    if (got)
        memcpy(bytes + unread, fuzz_tape.at, got);
    free(s->bytes);
    fuzz_tape.at += got;
    s->bytes = bytes;
    s->size = unread + got + 1;
    s->begin = 0;
    s->end = unread + got;
    return true;
}

bool stream_need(struct stream *s, size_t count)
{
    if (s->fd < 0)
        return stream_fail(s, "not connected");
    const size_t unread = s->end - s->begin;
    return unread >= count && s->bytes ? true : hear(s, count - unread);
}

bool stream_hear(struct stream *s)
{
    return s->end > s->begin || hear(s, fuzz_left() ? 1 : 0);
}

bool stream_finish(struct stream *s, uint64_t until_ns)
{
    (void)until_ns;
    stream_close(s);
    return true;
}
