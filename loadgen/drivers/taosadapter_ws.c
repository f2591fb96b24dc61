/* The method `ws`: each slice of a request is one binary message with a raw block of columns,
 * which the adapter hands to libtaos as it is; the answers are read when all are sent. A block is
 * written whole or not at all, so an answer without an error acknowledges all its rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "taosadapter_answer.h"
#include "taosadapter_parts.h"
#include "websocket.h"

static enum outcome receive(struct adapter *a, struct fault *fault)
{
    char *text;
    size_t length;
    if (!websocket_receive(&a->ws, &text, &length))
        return adapter_broken(&a->ws, fault);
    char *end = text + length; /* the byte behind may be the next message's first */
    const char behind = *end;
    *end = '\0';
    const enum outcome outcome = adapter_answer(text, 200, "message", fault);
    *end = behind;
    return outcome;
}

/* Text as a JSON string, for names and passwords. */
static char *put_string(char *out, const char *text)
{
    *out++ = '"';
    for (; *text; text++) {
        if ((unsigned char)*text < ' ') {
            out += sprintf(out, "\\u%04x", *text);
            continue;
        }
        if (*text == '"' || *text == '\\')
            *out++ = '\\';
        *out++ = *text;
    }
    *out++ = '"';
    *out = '\0';
    return out;
}

enum outcome adapter_ws_open(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    struct adapter *a = c->adapter;
    char *out = c->text;
    if (!stream_open(&a->ws, d->host, d->adapter_port) || !http_upgrade(&a->ws, d->host, "/ws"))
        return adapter_broken(&a->ws, fault);
    out += sprintf(out, "{\"action\":\"conn\",\"args\":{\"req_id\":1,\"user\":");
    out = put_string(out, d->user);
    out += sprintf(out, ",\"password\":");
    out = put_string(out, d->password);
    if (d->database) {
        out += sprintf(out, ",\"db\":");
        out = put_string(out, d->database);
    }
    out += sprintf(out, "}}");
    if (!websocket_send(&a->ws, WEBSOCKET_TEXT, c->text, (size_t)(out - c->text)))
        return adapter_broken(&a->ws, fault);
    return receive(a, fault);
}

static enum outcome make_room(struct adapter *a, const struct driver *d, uint32_t rows,
                              struct fault *fault)
{
    const size_t most = block_bytes_max(d, rows);
    if (most <= a->block_size)
        return OUTCOME_OK;
    free(a->block);
    a->block = malloc(most);
    a->block_size = a->block ? most : 0;
    return a->block ? OUTCOME_OK : fault_no_memory(fault);
}

static enum outcome send_slices(struct connection *c, const struct batch *batch,
                                struct fault *fault)
{
    struct adapter *a = c->adapter;
    for (uint32_t i = 0; i < batch->slice_count; i++) {
        const struct slice *slice = &batch->slices[i];
        if (make_room(a, c->driver, slice->rows, fault) != OUTCOME_OK)
            return OUTCOME_FATAL;
        const size_t length = block_put(a->block, c->driver, batch, slice, ++a->request);
        if (!c->driver->setup->is_sending_stubbed &&
            !websocket_send(&a->ws, WEBSOCKET_BINARY, a->block, length))
            return adapter_broken(&a->ws, fault);
    }
    return OUTCOME_OK;
}

enum outcome adapter_ws_send(struct connection *c, const struct batch *batch, uint64_t *rows_acked,
                             struct fault *fault)
{
    struct adapter *a = c->adapter;
    enum outcome outcome = OUTCOME_OK;
    if (a->ws.fd < 0 && !c->driver->setup->is_sending_stubbed)
        outcome = adapter_ws_open(c, fault);
    if (outcome == OUTCOME_OK)
        outcome = send_slices(c, batch, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (uint32_t i = 0; i < batch->slice_count && a->ws.fd >= 0; i++) {
        struct fault other;
        const enum outcome one = receive(a, &other);
        if (one != OUTCOME_OK && outcome != OUTCOME_FATAL) {
            *fault = other;
            outcome = one;
        }
    }
    if (outcome == OUTCOME_OK)
        *rows_acked = batch->rows;
    return outcome;
}
