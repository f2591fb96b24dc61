/* Apache Thrift for a client: the binary protocol over framed TCP. Answers are read within their
 * frame. */
#ifndef SCALE_THRIFT_H
#define SCALE_THRIFT_H

#include <string.h>

#include "big_endian.h"
#include "stream.h"

enum thrift_type {
    THRIFT_STOP = 0,
    THRIFT_BOOL = 2,
    THRIFT_BYTE = 3,
    THRIFT_DOUBLE = 4,
    THRIFT_I16 = 6,
    THRIFT_I32 = 8,
    THRIFT_I64 = 10,
    THRIFT_STRING = 11,
    THRIFT_STRUCT = 12,
    THRIFT_MAP = 13,
    THRIFT_SET = 14,
    THRIFT_LIST = 15
};

enum {
    THRIFT_HEAD_BYTES = 64,
    THRIFT_TAIL_BYTES = 2
}; /* around its fields; its name has at most 40 */

static inline uint8_t *thrift_put8(uint8_t *out, uint8_t value)
{
    *out = value;
    return out + 1;
}

static inline uint8_t *thrift_put_bytes(uint8_t *out, const void *bytes, size_t length)
{
    out = put_u32(out, (uint32_t)length);
    memcpy(out, bytes, length);
    return out + length;
}

static inline uint8_t *thrift_put_field(uint8_t *out, enum thrift_type type, uint8_t id)
{
    out[0] = (uint8_t)type;
    out[1] = 0;
    out[2] = id;
    return out + 3;
}

static inline uint8_t *thrift_put_list(uint8_t *out, enum thrift_type type, uint32_t count)
{
    return put_u32(thrift_put8(out, (uint8_t)type), count);
}

/* thrift_end ends the arguments, writes the frame's length and returns the end. */
uint8_t *thrift_begin(uint8_t *frame, const char *name, uint32_t number);
uint8_t *thrift_end(uint8_t *frame, uint8_t *out);

struct thrift_in { /* the unread part of an answer */
    const uint8_t *at, *end;
    bool is_bad; /* truncated or malformed; later reads return 0 */
};

struct thrift_text { /* in the stream until the next answer */
    const char *bytes;
    uint32_t length;
};

struct thrift_field {
    uint8_t type;
    uint16_t id;
};

uint8_t thrift_take8(struct thrift_in *in);
uint32_t thrift_take32(struct thrift_in *in);
uint64_t thrift_take64(struct thrift_in *in);
struct thrift_text thrift_take_text(struct thrift_in *in);
/* False: the structure ends. */
bool thrift_take_field(struct thrift_in *in, struct thrift_field *field);
/* 0 for a list of another type, which makes the reader bad. */
uint32_t thrift_take_list(struct thrift_in *in, enum thrift_type type);
void thrift_skip(struct thrift_in *in, uint8_t type);

/* Up to the first field of what the call returned. False with the reason in stream->problem, also
 * for an exception; the connection is then closed. */
bool thrift_read(struct stream *stream, uint32_t number, struct thrift_in *in);

#endif
