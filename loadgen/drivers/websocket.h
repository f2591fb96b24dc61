/* A small WebSocket client on a stream of http.h: whole messages, one frame each way. No
 * extensions. Frames are masked with zeros: masks protect proxies, and there is none between. */
#ifndef SCALE_WEBSOCKET_H
#define SCALE_WEBSOCKET_H

#include "http.h"

enum websocket_kind { WEBSOCKET_TEXT = 1, WEBSOCKET_BINARY = 2 };

bool websocket_send(struct stream *stream, enum websocket_kind kind, const void *bytes,
                    size_t length);
/* The next message, answering pings on the way; in the stream until the next call. */
bool websocket_receive(struct stream *stream, char **bytes, size_t *length);

#endif
