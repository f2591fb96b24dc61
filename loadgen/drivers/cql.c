/* Frames of CQL's native protocol; see cql.h. */
#include "cql.h"

#include <stdio.h>

enum { VERSION = 4, ANSWER = 0x80, WARNINGS = 8 };
#define LENGTH_MAX ((uint32_t)1 << 28)

void cql_head(uint8_t *head, enum cql_opcode opcode, uint16_t number, uint32_t length)
{
    head[0] = VERSION;
    head[1] = 0;
    cql_put16(head + 2, number);
    head[4] = (uint8_t)opcode;
    cql_put32(head + 5, length);
}

static uint32_t read16(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 8 | bytes[1];
}

static uint32_t read32(const uint8_t *bytes)
{
    return read16(bytes) << 16 | read16(bytes + 2);
}

/* The server's warnings stand before what it says: a list of strings. False: it ends too early. */
static bool skip_warnings(struct cql_answer *answer)
{
    const uint8_t *at = answer->body, *const end = at + answer->length;
    if (end - at < 2)
        return false;
    uint32_t count = read16(at);
    for (at += 2; count > 0; count--) {
        if (end - at < 2 || end - at - 2 < (ptrdiff_t)read16(at))
            return false;
        at += 2 + read16(at);
    }
    answer->body = at;
    answer->length = (uint32_t)(end - at);
    return true;
}

static void read_error(struct cql_answer *answer)
{
    answer->code = answer->length >= 4 ? read32(answer->body) : 0;
    if (answer->length < 6)
        return;
    const uint32_t said = read16(answer->body + 4), most = answer->length - 6;
    snprintf(answer->words, sizeof answer->words, "%.*s", (int)(said < most ? said : most),
             (const char *)answer->body + 6);
}

bool cql_read(struct stream *s, struct cql_answer *answer)
{
    if (!stream_need(s, CQL_HEAD_BYTES))
        return false;
    const uint8_t *head = (const uint8_t *)s->bytes + s->begin;
    if (head[0] != (VERSION | ANSWER))
        return stream_fail(s, "byte %u is not an answer of CQL's protocol version %d", head[0],
                           VERSION);
    *answer = (struct cql_answer){.opcode = head[4], .number = (uint16_t)read16(head + 2)};
    const bool has_warnings = head[1] & WARNINGS;
    answer->length = read32(head + 5);
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
    cql_put32(head + CQL_HEAD_BYTES, (uint32_t)length);
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
