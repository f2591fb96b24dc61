/* Frames of CQL's native protocol, version 4, on a stream: as much of it as loads need. A frame
 * goes out as a head of CQL_HEAD_BYTES and a body; answers come in any order, matched by the
 * number of their frame. */
#ifndef SCALE_CQL_H
#define SCALE_CQL_H

#include <string.h>

#include "cql_reader.h"
#include "stream.h"

enum { CQL_HEAD_BYTES = 9, CQL_ID_MAX = 64 };

enum cql_opcode {
    CQL_ERROR = 0x00,
    CQL_STARTUP = 0x01,
    CQL_READY = 0x02,
    CQL_RESULT = 0x08,
    CQL_PREPARE = 0x09,
    CQL_EXECUTE = 0x0a,
    CQL_BATCH = 0x0d
};

enum cql_kind { CQL_ROWS = 2, CQL_PREPARED = 4 }; /* the first word of a result */

struct cql_id { /* of a prepared statement */
    uint16_t length;
    uint8_t bytes[CQL_ID_MAX];
};

struct cql_answer {
    uint8_t opcode;
    uint16_t number; /* of the frame that is answered */
    const uint8_t *body; /* in the stream, until the next read */
    uint32_t length;
    uint32_t code;       /* of CQL_ERROR, with the server's words */
    char words[400];
};

static inline uint8_t *cql_put16(uint8_t *out, uint16_t value)
{
    const uint16_t big = __builtin_bswap16(value);
    memcpy(out, &big, sizeof big);
    return out + sizeof big;
}

static inline uint8_t *cql_put32(uint8_t *out, uint32_t value)
{
    const uint32_t big = __builtin_bswap32(value);
    memcpy(out, &big, sizeof big);
    return out + sizeof big;
}

static inline uint8_t *cql_put64(uint8_t *out, uint64_t value)
{
    const uint64_t big = __builtin_bswap64(value);
    memcpy(out, &big, sizeof big);
    return out + sizeof big;
}

/* Writes the head of a frame whose body of `length` bytes follows it. */
void cql_head(uint8_t *head, enum cql_opcode opcode, uint16_t number, uint32_t length);

/* False after saying in stream->problem why: the connection is then closed. */
bool cql_read(struct stream *stream, struct cql_answer *answer);
/* One request of a text, and its answer. `with_length`: the text is a long string of the protocol,
 * else the body unchanged. */
bool cql_ask(struct stream *stream, enum cql_opcode opcode, const char *text, size_t length,
             bool with_length, struct cql_answer *answer);

/* A reader of a result of this kind, behind the kind. False: the answer is another one. */
bool cql_result(const struct cql_answer *answer, enum cql_kind kind, struct cql_reader *reader);

/* The id of the statement that CQL_PREPARE made; the reader stands behind it then. False: the
 * answer is another one. */
bool cql_prepared(const struct cql_answer *answer, struct cql_id *id, struct cql_reader *reader);

static inline uint8_t *cql_put_id(uint8_t *out, const struct cql_id *id)
{
    out = cql_put16(out, id->length);
    memcpy(out, id->bytes, id->length);
    return out + id->length;
}

#endif
