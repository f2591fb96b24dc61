/* See output.h. A ready pipe takes a page, so no piece is longer. */
#include "output.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE_BYTES = 4096, PATIENCE_MS = 5000, BEHIND_BYTES = 1 << 26 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *bytes;
static size_t begin, end, size; /* buffered: bytes[begin .. end-1] */

static void push(void)
{
    while (begin < end) {
        struct pollfd one = {.fd = STDOUT_FILENO, .events = POLLOUT};
        if (poll(&one, 1, 0) <= 0)
            return;
        const size_t piece = end - begin < PIECE_BYTES ? end - begin : PIECE_BYTES;
        const ssize_t written = write(STDOUT_FILENO, bytes + begin, piece);
        if (written < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        begin = written < 0 ? end : begin + (size_t)written; /* closed: there is no reader */
    }
    begin = end = 0;
}

static void append(const char *text, size_t length)
{
    if (end + length > size) {
        memmove(bytes, bytes + begin, end - begin);
        end -= begin;
        begin = 0;
    }
    if (end + length > size) {
        char *larger = realloc(bytes, (end + length) * 2);
        if (!larger)
            abort();
        bytes = larger;
        size = (end + length) * 2;
    }
    memcpy(bytes + end, text, length);
    end += length;
}

void output_put(const char *line, size_t length)
{
    pthread_mutex_lock(&lock);
    if (!bytes && !(bytes = malloc(size = PIECE_BYTES)))
        abort();
    append(line, length);
    append("\n", 1);
    push();
    pthread_mutex_unlock(&lock);
}

static size_t kept(void)
{
    pthread_mutex_lock(&lock);
    const size_t count = end - begin;
    pthread_mutex_unlock(&lock);
    return count;
}

bool output_is_pending(void)
{
    return kept() > 0;
}

bool output_is_behind(void)
{
    return kept() > BEHIND_BYTES;
}

void output_push(void)
{
    pthread_mutex_lock(&lock);
    push();
    pthread_mutex_unlock(&lock);
}

bool output_finish(void)
{
    struct pollfd one = {.fd = STDOUT_FILENO, .events = POLLOUT};
    size_t left = kept();
    while (left > 0) {
        if (poll(&one, 1, PATIENCE_MS) == 0)
            break;
        output_push();
        left = kept();
    }
    if (left > 0)
        fprintf(stderr, "scale-loadgen: standard output is not read: %zu bytes are lost\n", left);
    pthread_mutex_lock(&lock);
    free(bytes);
    bytes = NULL;
    begin = end = size = 0;
    pthread_mutex_unlock(&lock);
    return left == 0;
}
