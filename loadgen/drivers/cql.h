/* Frames of CQL's native protocol, version 4. Answers have the number of their frame. Reads beyond
 * the end are zero and set is_short. */
#ifndef SCALE_CQL_H
#define SCALE_CQL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "big_endian.h"
#include "stream.h"

enum cql_type { /* the protocol's numbers */
                CQL_ASCII = 0x01,
                CQL_BIGINT = 0x02,
                CQL_BOOLEAN = 0x04,
                CQL_COUNTER = 0x05,
                CQL_DOUBLE = 0x07,
                CQL_FLOAT = 0x08,
                CQL_INT = 0x09,
                CQL_TIMESTAMP = 0x0b,
                CQL_VARCHAR = 0x0d,
                CQL_SMALLINT = 0x13,
                CQL_TINYINT = 0x14
};

struct cql_reader {
    const uint8_t *at, *end;
    bool is_short; /* truncated: more was read than there is */
};

struct cql_metadata { /* describes rows, or a statement's parameters */
    uint32_t count;
    bool has_types;          /* false: left out, as the driver had asked */
    const uint8_t *position; /* start of the next page; NULL: none */
    uint32_t position_length;
};

uint32_t cql_read16(struct cql_reader *reader);
uint32_t cql_read32(struct cql_reader *reader);
uint64_t cql_read64(struct cql_reader *reader);
/* NULL: there are fewer. */
const uint8_t *cql_read_bytes(struct cql_reader *reader, size_t count);
void cql_skip_string(struct cql_reader *reader);

/* Types inside it are skipped. */
uint16_t cql_read_type(struct cql_reader *reader);

/* Each column follows if it has types. *are_named: each names its table. */
struct cql_metadata cql_read_metadata(struct cql_reader *reader, bool is_of_parameters,
                                      bool *are_named);

uint16_t cql_read_column(struct cql_reader *reader, bool are_named);

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

struct cql_id { /* names a prepared statement */
    uint16_t length;
    uint8_t bytes[CQL_ID_MAX];
};

struct cql_answer {
    uint8_t opcode;
    uint16_t number; /* number of the frame that is answered */
    const uint8_t *body; /* in the stream until the next read */
    uint32_t length;
    uint32_t code;       /* set for CQL_ERROR, with the server's message */
    char words[400];
};

void cql_head(uint8_t *head, enum cql_opcode opcode, uint16_t number, uint32_t length);

/* False with the reason in stream->problem, and the connection closed. */
bool cql_read(struct stream *stream, struct cql_answer *answer);
/* `with_length`: the text is a long string, else the body. */
bool cql_ask(struct stream *stream, enum cql_opcode opcode, const char *text, size_t length,
             bool with_length, struct cql_answer *answer);

/* False: not a result of this kind. */
bool cql_result(const struct cql_answer *answer, enum cql_kind kind, struct cql_reader *reader);

/* The reader is then behind the id. False: another answer. */
bool cql_prepared(const struct cql_answer *answer, struct cql_id *id, struct cql_reader *reader);

static inline uint8_t *cql_put_id(uint8_t *out, const struct cql_id *id)
{
    out = put_u16(out, id->length);
    memcpy(out, id->bytes, id->length);
    return out + id->length;
}

#endif
