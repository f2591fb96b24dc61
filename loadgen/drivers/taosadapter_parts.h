/* What the files of taosAdapter share among themselves: a connection's part, and the blocks of
 * columns that the WebSocket carries. */
#ifndef SCALE_TAOSADAPTER_PARTS_H
#define SCALE_TAOSADAPTER_PARTS_H

#include "http.h"
#include "tdengine_parts.h"

struct adapter {
    struct stream rest, ws;
    char headers[512]; /* the authorization */
    char path[3 * TDENGINE_NAME_MAX + 64];
    uint8_t *block; /* a message on its way */
    size_t block_size;
    uint64_t request;
};

enum outcome adapter_ws_open(struct connection *connection, struct fault *fault);
enum outcome adapter_ws_send(struct connection *connection, const struct batch *batch,
                             uint64_t *rows_acked, struct fault *fault);

/* Posts a statement; *answer is then the JSON text of a success, of *bytes. */
enum outcome adapter_post(struct connection *connection, const char *statement, size_t length,
                          char **answer, size_t *bytes, struct fault *fault);

enum outcome adapter_broken(const struct stream *stream, struct fault *fault);
/* `words`: the key of the words in a failure's answer. */
enum outcome adapter_answer(char *text, int status, const char *words, struct fault *fault);

/* The most bytes that a message of `rows` rows takes, and the message of one slice (with the
 * bytes it took), as the adapter's binary action writes raw blocks. */
size_t block_bytes_max(const struct driver *driver, uint32_t rows);
size_t block_put(uint8_t *out, const struct driver *driver, const struct batch *batch,
                 const struct slice *slice, uint64_t request);

#endif
