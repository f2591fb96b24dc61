/* One value of an answer, for its digest and sink. */
#ifndef SCALE_ANSWER_VALUE_H
#define SCALE_ANSWER_VALUE_H

#include "../digest.h"
#include "sink_values.h"

enum answer_kind {
    ANSWER_NULL,
    ANSWER_WHOLE,
    ANSWER_UNSIGNED,
    ANSWER_FLOAT,
    ANSWER_DOUBLE,
    ANSWER_TEXT,
};

struct answer_value {
    enum answer_kind kind;
    int64_t whole; /* also a truth, ns since 1970, the bits of an unsigned one */
    double real; /* also a float */
    const char *text;
    size_t length;
};

static inline uint64_t answer_digest(uint64_t digest, const struct answer_value *value)
{
    switch (value->kind) {
    case ANSWER_NULL:
        return digest_word(digest, DIGEST_NULL);
    case ANSWER_FLOAT:
    case ANSWER_DOUBLE:
        return digest_real(digest, value->real);
    case ANSWER_TEXT:
        return digest_text(digest, value->text, value->length);
    default:
        return digest_word(digest, (uint64_t)value->whole);
    }
}

static inline void answer_hand(const struct result_sink *sink, const struct answer_value *value)
{
    switch (value->kind) {
    case ANSWER_NULL:
        sink_null(sink);
        break;
    case ANSWER_UNSIGNED:
        sink_unsigned(sink, (uint64_t)value->whole);
        break;
    case ANSWER_FLOAT:
        sink_float(sink, (float)value->real);
        break;
    case ANSWER_DOUBLE:
        sink_double(sink, value->real);
        break;
    case ANSWER_TEXT:
        sink_text(sink, value->text, value->length);
        break;
    default:
        sink_whole(sink, value->whole);
    }
}

static inline bool answer_is_read(const struct answer *answer)
{
    return answer->wants_digest || answer->sink;
}

static inline void answer_begin_row(struct answer *answer)
{
    if (answer->sink)
        answer->sink->row(answer->sink->context);
}

static inline void answer_take(struct answer *answer, const struct answer_value *value)
{
    if (answer->wants_digest)
        answer->digest = answer_digest(answer->digest, value);
    if (answer->sink)
        answer_hand(answer->sink, value);
}

static inline void answer_end_row(struct answer *answer)
{
    if (answer->wants_digest)
        answer->digest = digest_word(answer->digest, DIGEST_ROW);
}

#endif
