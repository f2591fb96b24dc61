/* See cql.h. */
#include "cql.h"

#include <stdio.h>

enum { VERSION = 4, ANSWER = 0x80, WARNINGS = 8 };
#define LENGTH_MAX ((uint32_t)1 << 28)

void cql_head(uint8_t *head, enum cql_opcode opcode, uint16_t number, uint32_t length)
{
    head[0] = VERSION;
    head[1] = 0;
    put_u16(head + 2, number);
    head[4] = (uint8_t)opcode;
    put_u32(head + 5, length);
}

/* A list of strings before the answer. False: truncated. */
static bool skip_warnings(struct cql_answer *answer)
{
    struct cql_reader r = {answer->body, answer->body + answer->length, false};
    for (uint32_t count = cql_read16(&r); count > 0 && !r.is_short; count--)
        cql_skip_string(&r);
    answer->body = r.at;
    answer->length = (uint32_t)(r.end - r.at);
    return !r.is_short;
}

static void read_error(struct cql_answer *answer)
{
    struct cql_reader r = {answer->body, answer->body + answer->length, false};
    answer->code = cql_read32(&r);
    const uint32_t length = cql_read16(&r), most = (uint32_t)(r.end - r.at);
    if (!r.is_short)
        snprintf(answer->words, sizeof answer->words, "%.*s", (int)(length < most ? length : most),
                 (const char *)r.at);
}

bool cql_read(struct stream *s, struct cql_answer *answer)
{
    if (!stream_need(s, CQL_HEAD_BYTES))
        return false;
    const uint8_t *head = (const uint8_t *)s->bytes + s->begin;
    if (head[0] != (VERSION | ANSWER))
        return stream_fail(s, "byte %u is not an answer of CQL's protocol version %d", head[0],
                           VERSION);
    const bool has_warnings = head[1] & WARNINGS;
    struct cql_reader r = {head + 2, head + CQL_HEAD_BYTES, false};
    *answer = (struct cql_answer){.number = (uint16_t)cql_read16(&r)};
    answer->opcode = *r.at++;
    answer->length = cql_read32(&r);
    if (answer->length > LENGTH_MAX)
        return stream_fail(s, "an answer of %u bytes is too long", answer->length);
    if (!stream_need(s, CQL_HEAD_BYTES + answer->length))
        return false;
    answer->body = (const uint8_t *)s->bytes + s->begin + CQL_HEAD_BYTES;
    s->begin += CQL_HEAD_BYTES + answer->length;
    if (has_warnings && !skip_warnings(answer))
        return stream_fail(s, "an answer of CQL ends too early");
    if (answer->opcode == CQL_ERROR)
        read_error(answer);
    return true;
}

bool cql_ask(struct stream *s, enum cql_opcode opcode, const char *text, size_t length,
             bool with_length, struct cql_answer *answer)
{
    uint8_t head[CQL_HEAD_BYTES + 4];
    const uint32_t more = with_length ? 4 : 0;
    cql_head(head, opcode, 0, (uint32_t)length + more);
    put_u32(head + CQL_HEAD_BYTES, (uint32_t)length);
    return stream_write(s, head, CQL_HEAD_BYTES + more, text, length) && cql_read(s, answer);
}

bool cql_result(const struct cql_answer *answer, enum cql_kind kind, struct cql_reader *reader)
{
    *reader = (struct cql_reader){answer->body, answer->body + answer->length, false};
    return answer->opcode == CQL_RESULT && cql_read32(reader) == (uint32_t)kind &&
           !reader->is_short;
}

bool cql_prepared(const struct cql_answer *answer, struct cql_id *id, struct cql_reader *reader)
{
    if (!cql_result(answer, CQL_PREPARED, reader))
        return false;
    const uint32_t length = cql_read16(reader);
    const uint8_t *bytes = length > CQL_ID_MAX ? NULL : cql_read_bytes(reader, length);
    if (!bytes)
        return false;
    id->length = (uint16_t)length;
    memcpy(id->bytes, bytes, length);
    return true;
}

enum { GLOBAL_TABLE = 1, HAS_MORE_PAGES = 2, NO_METADATA = 4, DEPTH_MAX = 8 };
enum { CUSTOM = 0x00, LIST = 0x20, MAP = 0x21, SET = 0x22, USER_TYPE = 0x30, TUPLE = 0x31 };

const uint8_t *cql_read_bytes(struct cql_reader *r, size_t count)
{
    const uint8_t *const bytes_read = r->at;
    if ((size_t)(r->end - r->at) < count) {
        r->is_short = true;
        r->at = r->end;
        return NULL;
    }
    r->at += count;
    return bytes_read;
}

static uint64_t read_number(struct cql_reader *r, size_t bytes)
{
    const uint8_t *at = cql_read_bytes(r, bytes);
    uint64_t value = 0;
    for (size_t i = 0; at && i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

uint32_t cql_read16(struct cql_reader *r)
{
    return (uint32_t)read_number(r, 2);
}

uint32_t cql_read32(struct cql_reader *r)
{
    return (uint32_t)read_number(r, 4);
}

uint64_t cql_read64(struct cql_reader *r)
{
    return read_number(r, 8);
}

void cql_skip_string(struct cql_reader *r)
{
    cql_read_bytes(r, cql_read16(r));
}

static uint16_t read_type(struct cql_reader *r, uint32_t depth)
{
    const uint16_t type = (uint16_t)cql_read16(r);
    uint32_t inside = type == MAP ? 2 : type == LIST || type == SET ? 1 : 0;
    if (depth == 0)
        r->is_short = true;
    if (type == CUSTOM || type == USER_TYPE)
        cql_skip_string(r);
    if (type == USER_TYPE)
        cql_skip_string(r);
    if (type == USER_TYPE || type == TUPLE)
        inside = cql_read16(r);
    for (; inside > 0 && !r->is_short; inside--) {
        if (type == USER_TYPE)
            cql_skip_string(r);
        read_type(r, depth - 1);
    }
    return type;
}

uint16_t cql_read_type(struct cql_reader *r)
{
    return read_type(r, DEPTH_MAX);
}

struct cql_metadata cql_read_metadata(struct cql_reader *r, bool is_of_parameters, bool *are_named)
{
    const uint32_t flags = cql_read32(r);
    struct cql_metadata metadata = {.count = cql_read32(r), .has_types = !(flags & NO_METADATA)};
    *are_named = !(flags & GLOBAL_TABLE);
    if (is_of_parameters)
        cql_read_bytes(r, (size_t)2 * cql_read32(r)); /* indexes of the partition's key */
    else if (flags & HAS_MORE_PAGES) {
        metadata.position_length = cql_read32(r);
        metadata.position = cql_read_bytes(r, metadata.position_length);
    }
    if (!*are_named && metadata.has_types && metadata.count > 0) {
        cql_skip_string(r);
        cql_skip_string(r);
    }
    return metadata;
}

uint16_t cql_read_column(struct cql_reader *r, bool are_named)
{
    if (are_named) {
        cql_skip_string(r);
        cql_skip_string(r);
    }
    cql_skip_string(r);
    return cql_read_type(r);
}
