/* A small WebSocket client: messages of one frame, with masks of zero. */
#ifndef SCALE_WEBSOCKET_H
#define SCALE_WEBSOCKET_H

#include "http.h"

enum websocket_kind { WEBSOCKET_TEXT = 1, WEBSOCKET_BINARY = 2 };

bool websocket_send(struct stream *stream, int kind, const void *bytes, size_t length);
/* Answers pings; the message is in the stream until the next call. */
bool websocket_receive(struct stream *stream, char **bytes, size_t *length);

#endif
