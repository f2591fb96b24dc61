/* See websocket.h. */
#include "websocket.h"

#include <stdio.h>

#include "big_endian.h"

enum { FINAL = 0x80, MASKED = 0x80, CLOSE = 8, PING = 9, PONG = 10, LENGTH_16 = 126, LENGTH_64 };
enum { HEAD_BYTES_MAX = 14, MASK_BYTES = 4 };

bool websocket_send(struct stream *s, int opcode, const void *bytes, size_t length)
{
    uint8_t head[HEAD_BYTES_MAX] = {(uint8_t)(FINAL | opcode)};
    size_t used = 2;
    if (length < LENGTH_16) {
        head[1] = (uint8_t)(MASKED | length);
    } else if (length < 65536) {
        head[1] = MASKED | LENGTH_16;
        used = (size_t)(put_u16(head + 2, (uint16_t)length) - head);
    } else {
        head[1] = MASKED | LENGTH_64;
        used = (size_t)(put_u64(head + 2, length) - head);
    }
    return stream_write(s, head, used + MASK_BYTES, bytes, length);
}

static bool receive_head(struct stream *s, int *opcode, size_t *length)
{
    if (!stream_need(s, 2))
        return false;
    const uint8_t *head = (const uint8_t *)s->bytes + s->begin;
    const size_t more = (head[1] & 127) == LENGTH_16 ? 2 : (head[1] & 127) == LENGTH_64 ? 8 : 0;
    *opcode = head[0] & 15;
    *length = head[1] & 127;
    if (!stream_need(s, 2 + more))
        return false;
    head = (const uint8_t *)s->bytes + s->begin;
    if (more > 0)
        *length = 0;
    for (size_t i = 0; i < more; i++)
        *length = *length << 8 | head[2 + i];
    s->begin += 2 + more;
    return true;
}

bool websocket_receive(struct stream *s, char **bytes, size_t *length)
{
    int opcode;
    for (;;) {
        if (!receive_head(s, &opcode, length) || !stream_need(s, *length))
            return false;
        *bytes = s->bytes + s->begin;
        s->begin += *length;
        if (opcode == CLOSE) {
            stream_close(s);
            snprintf(s->problem, sizeof s->problem, "the adapter closed the WebSocket");
            return false;
        }
        if (opcode == PING && !websocket_send(s, PONG, *bytes, *length))
            return false;
        if (opcode == WEBSOCKET_TEXT || opcode == WEBSOCKET_BINARY)
            return true;
    }
}
