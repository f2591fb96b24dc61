/* Reads the body of an answer of CQL's protocol, bounded: behind its end everything is zero and
 * is_short is set. */
#ifndef SCALE_CQL_READER_H
#define SCALE_CQL_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cql_type { /* as the protocol numbers them */
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
    bool is_short; /* more was asked for than there is */
};

struct cql_metadata { /* of the columns of rows, or of a statement's parameters */
    uint32_t count;
    bool has_types;          /* false: the server left them out, as it was told to */
    const uint8_t *position; /* of the next page; NULL: there is none */
    uint32_t position_length;
};

uint32_t cql_read16(struct cql_reader *reader);
uint32_t cql_read32(struct cql_reader *reader);
uint64_t cql_read64(struct cql_reader *reader);
/* NULL when there are fewer. */
const uint8_t *cql_read_bytes(struct cql_reader *reader, size_t count);
void cql_skip_string(struct cql_reader *reader);

/* A type, and what it consists of; the types inside it are skipped. */
uint16_t cql_read_type(struct cql_reader *reader);

/* The head; each column follows if it has types. `is_of_parameters` as in the answer to PREPARE.
 * *are_named: each column names its table. */
struct cql_metadata cql_read_metadata(struct cql_reader *reader, bool is_of_parameters,
                                      bool *are_named);

/* The type of the next column. */
uint16_t cql_read_column(struct cql_reader *reader, bool are_named);

#endif
