/* See thrift.h. */
#include "thrift.h"

enum { FRAME_BYTES = 4, DEPTH_MAX = 16, CALL = 1, REPLY = 2, EXCEPTION = 3 };
#define VERSION 0x80010000u
#define LENGTH_MAX ((uint32_t)1 << 28)

uint8_t *thrift_begin(uint8_t *frame, const char *name, uint32_t number)
{
    uint8_t *out = put_u32(frame + FRAME_BYTES, VERSION | CALL);
    out = thrift_put_bytes(out, name, strlen(name));
    return put_u32(out, number);
}

uint8_t *thrift_end(uint8_t *frame, uint8_t *out)
{
    out = thrift_put8(out, THRIFT_STOP);
    put_u32(frame, (uint32_t)(out - frame) - FRAME_BYTES);
    return out;
}

/* Otherwise the reader is bad. */
static bool has(struct thrift_in *in, size_t count)
{
    if (!in->is_bad && (size_t)(in->end - in->at) >= count)
        return true;
    in->is_bad = true;
    in->at = in->end;
    return false;
}

uint8_t thrift_take8(struct thrift_in *in)
{
    return has(in, 1) ? *in->at++ : 0;
}

static uint16_t take16(struct thrift_in *in)
{
    const uint16_t high = thrift_take8(in);
    return (uint16_t)(high << 8 | thrift_take8(in));
}

uint32_t thrift_take32(struct thrift_in *in)
{
    uint32_t value = 0;
    if (!has(in, sizeof value))
        return 0;
    memcpy(&value, in->at, sizeof value);
    in->at += sizeof value;
    return __builtin_bswap32(value);
}

uint64_t thrift_take64(struct thrift_in *in)
{
    const uint64_t high = thrift_take32(in);
    return high << 32 | thrift_take32(in);
}

struct thrift_text thrift_take_text(struct thrift_in *in)
{
    struct thrift_text text = {.bytes = "", .length = thrift_take32(in)};
    if (!has(in, text.length))
        return (struct thrift_text){.bytes = ""};
    text.bytes = (const char *)in->at;
    in->at += text.length;
    return text;
}

bool thrift_take_field(struct thrift_in *in, struct thrift_field *field)
{
    field->type = thrift_take8(in);
    if (in->is_bad || field->type == THRIFT_STOP)
        return false;
    field->id = take16(in);
    return !in->is_bad;
}

uint32_t thrift_take_list(struct thrift_in *in, enum thrift_type type)
{
    const uint8_t item_type = thrift_take8(in);
    const uint32_t count = thrift_take32(in);
    if ((count > 0 && item_type != type) || count > (size_t)(in->end - in->at))
        has(in, LENGTH_MAX); /* an item has at least one byte */
    return in->is_bad ? 0 : count;
}

static void skip(struct thrift_in *in, uint8_t type, int depth);

static void skip_items(struct thrift_in *in, bool is_map, int depth)
{
    const uint8_t first = thrift_take8(in), second = is_map ? thrift_take8(in) : 0;
    for (uint32_t left = thrift_take32(in); left > 0 && !in->is_bad; left--) {
        skip(in, first, depth);
        if (is_map)
            skip(in, second, depth);
    }
}

static void skip(struct thrift_in *in, uint8_t type, int depth)
{
    static const uint8_t bytes[] = {[THRIFT_BOOL] = 1, [THRIFT_BYTE] = 1, [THRIFT_I16] = 2,
                                    [THRIFT_I32] = 4,  [THRIFT_I64] = 8,  [THRIFT_DOUBLE] = 8};
    struct thrift_field field;
    if (depth > DEPTH_MAX)
        type = THRIFT_STOP; /* nested deeper than any answer */
    if (type < sizeof bytes && bytes[type]) {
        in->at += has(in, bytes[type]) ? bytes[type] : 0;
        return;
    }
    switch (type) {
    case THRIFT_STRING:
        thrift_take_text(in);
        return;
    case THRIFT_STRUCT:
        while (thrift_take_field(in, &field))
            skip(in, field.type, depth + 1);
        return;
    case THRIFT_MAP:
    case THRIFT_SET:
    case THRIFT_LIST:
        skip_items(in, type == THRIFT_MAP, depth + 1);
        return;
    default:
        has(in, LENGTH_MAX);
    }
}

void thrift_skip(struct thrift_in *in, uint8_t type)
{
    skip(in, type, 0);
}

/* The message is the exception's first field. */
static bool threw(struct stream *s, struct thrift_in *in)
{
    struct thrift_text words = {.bytes = ""};
    struct thrift_field field;
    while (thrift_take_field(in, &field))
        if (field.type == THRIFT_STRING && field.id == 1)
            words = thrift_take_text(in);
        else
            thrift_skip(in, field.type);
    return stream_fail(s, "the server threw: %.*s", (int)(words.length < 120 ? words.length : 120),
                       words.bytes);
}

bool thrift_read(struct stream *s, uint32_t number, struct thrift_in *in)
{
    uint32_t length;
    if (!stream_need(s, FRAME_BYTES))
        return false;
    memcpy(&length, s->bytes + s->begin, sizeof length);
    length = __builtin_bswap32(length);
    if (length > LENGTH_MAX)
        return stream_fail(s, "a frame of %u bytes is not an answer of Thrift", length);
    if (!stream_need(s, FRAME_BYTES + length))
        return false;
    in->at = (const uint8_t *)s->bytes + s->begin + FRAME_BYTES;
    in->end = in->at + length;
    in->is_bad = false;
    s->begin += FRAME_BYTES + length;
    const uint32_t head = thrift_take32(in);
    thrift_take_text(in);
    const uint32_t answered = thrift_take32(in);
    if (in->is_bad || (head & 0xffffff00u) != VERSION)
        return stream_fail(s, "the answer is not in Thrift's binary protocol");
    if (answered != number)
        return stream_fail(s, "an answer to call %u came for call %u", answered, number);
    if ((head & 0xff) == EXCEPTION)
        return threw(s, in);
    return (head & 0xff) == REPLY ||
           stream_fail(s, "a message of kind %u is not an answer", head & 0xff);
}
