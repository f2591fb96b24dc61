/* The rows of an answer: of a value its length is read and, for a digest, its bytes. */
#include "cassandra_answer.h"

#include "../digest.h"
#include "sink_values.h"

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

static uint64_t digest_value(uint64_t digest, uint16_t type, const uint8_t *value, uint32_t length)
{
    struct cql_reader reader = {value, value + length, false};
    const uint32_t four = length == 4 ? cql_read32(&reader) : 0;
    const uint64_t eight = length == 8 ? cql_read64(&reader) : 0;
    float small;
    double real;
    memcpy(&small, &four, sizeof small);
    memcpy(&real, &eight, sizeof real);
    switch (type) {
    case CQL_BOOLEAN:
        return digest_word(digest, *value != 0);
    case CQL_TINYINT:
        return digest_word(digest, (uint64_t)(int8_t)*value);
    case CQL_SMALLINT:
        return digest_word(digest, (uint64_t)(int16_t)cql_read16(&reader));
    case CQL_INT:
        return digest_word(digest, (uint64_t)(int32_t)four);
    case CQL_FLOAT:
        return digest_real(digest, (double)small);
    case CQL_DOUBLE:
        return digest_real(digest, real);
    case CQL_TIMESTAMP:
        return digest_word(digest, eight * 1000000);
    case CQL_BIGINT:
    case CQL_COUNTER:
        return digest_word(digest, eight);
    default:
        return digest_text(digest, value, length);
    }
}

static void hand_value(const struct result_sink *sink, uint16_t type, const uint8_t *value,
                       uint32_t length)
{
    struct cql_reader reader = {value, value + length, false};
    const uint32_t four = length == 4 ? cql_read32(&reader) : 0;
    const uint64_t eight = length == 8 ? cql_read64(&reader) : 0;
    float small;
    double real;
    memcpy(&small, &four, sizeof small);
    memcpy(&real, &eight, sizeof real);
    switch (type) {
    case CQL_BOOLEAN:
        sink_whole(sink, *value != 0);
        break;
    case CQL_TINYINT:
        sink_whole(sink, (int8_t)*value);
        break;
    case CQL_SMALLINT:
        sink_whole(sink, (int16_t)cql_read16(&reader));
        break;
    case CQL_INT:
        sink_whole(sink, (int32_t)four);
        break;
    case CQL_FLOAT:
        sink_float(sink, small);
        break;
    case CQL_DOUBLE:
        sink_double(sink, real);
        break;
    case CQL_TIMESTAMP:
        sink_whole(sink, (int64_t)(eight * 1000000));
        break;
    case CQL_BIGINT:
    case CQL_COUNTER:
        sink_whole(sink, (int64_t)eight);
        break;
    default:
        sink_text(sink, (const char *)value, length);
    }
}

bool cassandra_take_rows(const struct cassandra_columns *columns, struct cql_reader *reader,
                         uint32_t rows, struct answer *answer)
{
    for (uint32_t r = 0; r < rows; r++) {
        if (answer->sink)
            answer->sink->row(answer->sink->context);
        for (uint32_t i = 0; i < columns->count; i++) {
            const int32_t length = (int32_t)cql_read32(reader);
            const uint8_t *value = length < 0 ? NULL : cql_read_bytes(reader, (size_t)length);
            const uint32_t wanted = bytes_of(columns->types[i]);
            if (reader->is_short || (value && wanted && wanted != (uint32_t)length))
                return false;
            if (answer->wants_digest)
                answer->digest =
                    value ? digest_value(answer->digest, columns->types[i], value, (uint32_t)length)
                          : digest_word(answer->digest, DIGEST_NULL);
            if (answer->sink && value)
                hand_value(answer->sink, columns->types[i], value, (uint32_t)length);
            else if (answer->sink)
                sink_null(answer->sink);
        }
        answer->rows++;
        answer->values += columns->count;
        if (answer->wants_digest)
            answer->digest = digest_word(answer->digest, DIGEST_ROW);
    }
    return reader->at == reader->end;
}
