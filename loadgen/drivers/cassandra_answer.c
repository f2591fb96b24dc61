/* The rows of an answer: of a value its length is read and, where anyone wants it, the value. */
#include "cassandra_answer.h"

#include "answer_value.h"

static uint32_t bytes_of(uint16_t type)
{
    switch (type) {
    case CQL_BOOLEAN:
    case CQL_TINYINT:
        return 1;
    case CQL_SMALLINT:
        return 2;
    case CQL_INT:
    case CQL_FLOAT:
        return 4;
    case CQL_BIGINT:
    case CQL_COUNTER:
    case CQL_DOUBLE:
    case CQL_TIMESTAMP:
        return 8;
    default:
        return 0; /* any number */
    }
}

/* value NULL: an SQL NULL; else it has the length of its type. */
static struct answer_value decode(uint16_t type, const uint8_t *value, uint32_t length)
{
    struct cql_reader reader = {value, value + length, false};
    const uint32_t four = length == 4 ? cql_read32(&reader) : 0;
    const uint64_t eight = length == 8 ? cql_read64(&reader) : 0;
    struct answer_value found = {.kind = ANSWER_WHOLE, .whole = (int64_t)eight};
    float small;
    if (!value)
        return (struct answer_value){.kind = ANSWER_NULL};
    switch (type) {
    case CQL_BOOLEAN:
        found.whole = *value != 0;
        break;
    case CQL_TINYINT:
        found.whole = *value < 128 ? *value : *value - 256;
        break;
    case CQL_SMALLINT:
        found.whole = (int16_t)cql_read16(&reader);
        break;
    case CQL_INT:
        found.whole = (int32_t)four;
        break;
    case CQL_FLOAT:
        memcpy(&small, &four, sizeof small);
        found.kind = ANSWER_FLOAT;
        found.real = (double)small;
        break;
    case CQL_DOUBLE:
        memcpy(&found.real, &eight, sizeof found.real);
        found.kind = ANSWER_DOUBLE;
        break;
    case CQL_TIMESTAMP:
        found.whole = (int64_t)(eight * 1000000);
        break;
    case CQL_BIGINT:
    case CQL_COUNTER:
        break;
    default:
        found = (struct answer_value){
            .kind = ANSWER_TEXT, .text = (const char *)value, .length = length};
    }
    return found;
}

bool cassandra_take_rows(const struct cassandra_columns *columns, struct cql_reader *reader,
                         uint32_t rows, struct answer *answer)
{
    const bool is_read = answer_is_read(answer);
    for (uint32_t r = 0; r < rows; r++) {
        answer_begin_row(answer);
        for (uint32_t i = 0; i < columns->count; i++) {
            const int32_t length = (int32_t)cql_read32(reader);
            const uint8_t *value = length < 0 ? NULL : cql_read_bytes(reader, (size_t)length);
            const uint32_t wanted = bytes_of(columns->types[i]);
            if (reader->is_short || (value && wanted && wanted != (uint32_t)length))
                return false;
            if (is_read) {
                const struct answer_value found =
                    decode(columns->types[i], value, value ? (uint32_t)length : 0);
                answer_take(answer, &found);
            }
        }
        answer->rows++;
        answer->values += columns->count;
        answer_end_row(answer);
    }
    return reader->at == reader->end;
}
