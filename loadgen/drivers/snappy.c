/* Snappy's block format (google/snappy, format_description.txt): the length of the text as a
 * varint, then literals and copies of what stands up to 64 KiB before. Four bytes that stand there
 * already are looked up by their hash; the first copy that is found is taken. See packing.h. */
#include "packing.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK_BYTES = 1 << 16, /* nothing is copied from a block to the next one */
    TABLE_BITS = 14,
    TABLE_BITS_LEAST = 8,
    MARGIN = 16, /* so many bytes at the end of a block are a literal: they may be read beyond */
    COPY_MOST = 64, /* bytes of one copy */
    COPY_LEAST = 4,
    NEAR_MOST = 11, /* bytes of a copy in two bytes */
    NEAR_OFFSET = 1 << 11,
    SHORT_LITERAL = 60,
    PATIENCE_BITS = 5, /* the longer nothing is found, the more bytes are passed over */
    OVERHEAD = 64
};

struct packer {
    char *out;
    size_t size;
    uint16_t table[1 << TABLE_BITS]; /* by hash, where such bytes stand in the block */
};

static uint32_t four(const uint8_t *at)
{
    uint32_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

static uint64_t eight(const uint8_t *at)
{
    uint64_t bytes;
    memcpy(&bytes, at, sizeof bytes);
    return bytes;
}

/* May write MARGIN bytes beyond what it returns. is_readable: so are MARGIN bytes behind the text.
 */
static uint8_t *put_literal(uint8_t *out, const uint8_t *text, uint32_t length, bool is_readable)
{
    const uint32_t n = length - 1;
    if (n < SHORT_LITERAL) {
        *out++ = (uint8_t)(n << 2);
        if (is_readable && length <= MARGIN) {
            memcpy(out, text, MARGIN);
            return out + length;
        }
    } else if (n < 256) {
        *out++ = SHORT_LITERAL << 2;
        *out++ = (uint8_t)n;
    } else {
        *out++ = (SHORT_LITERAL + 1) << 2;
        *out++ = (uint8_t)n;
        *out++ = (uint8_t)(n >> 8);
    }
    memcpy(out, text, length);
    return out + length;
}

static uint8_t *put_far_copy(uint8_t *out, uint32_t offset, uint32_t length)
{
    *out++ = (uint8_t)((length - 1) << 2 | 2);
    *out++ = (uint8_t)offset;
    *out++ = (uint8_t)(offset >> 8);
    return out;
}

static uint8_t *put_copy(uint8_t *out, uint32_t offset, uint32_t length)
{
    for (; length >= COPY_MOST + COPY_LEAST; length -= COPY_MOST)
        out = put_far_copy(out, offset, COPY_MOST);
    if (length > COPY_MOST) { /* leaves what a near copy can take */
        out = put_far_copy(out, offset, COPY_MOST - COPY_LEAST);
        length -= COPY_MOST - COPY_LEAST;
    }
    if (length > NEAR_MOST || offset >= NEAR_OFFSET)
        return put_far_copy(out, offset, length);
    *out++ = (uint8_t)(offset >> 8 << 5 | (length - COPY_LEAST) << 2 | 1);
    *out++ = (uint8_t)offset;
    return out;
}

/* How many bytes at `a` and at `b`, up to `end`, are the same; b is behind a. */
static uint32_t same_bytes(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    const uint8_t *const begin = b;
    for (; b + sizeof(uint64_t) <= end; a += sizeof(uint64_t), b += sizeof(uint64_t)) {
        const uint64_t differ = eight(a) ^ eight(b);
        if (differ)
            return (uint32_t)(b - begin) + (uint32_t)__builtin_ctzll(differ) / 8;
    }
    for (; b < end && *a == *b; a++)
        b++;
    return (uint32_t)(b - begin);
}

static uint32_t table_bits(uint32_t length)
{
    uint32_t bits = TABLE_BITS_LEAST;
    while (bits < TABLE_BITS && length >> bits)
        bits++;
    return bits;
}

static uint8_t *pack_block(uint16_t *table, const uint8_t *text, uint32_t length, uint8_t *out)
{
    const uint32_t bits = table_bits(length), last = length > MARGIN ? length - MARGIN : 0;
    uint32_t from = 0, missed = 0; /* from: what stands before it is written */
    memset(table, 0, sizeof *table << bits);
    for (uint32_t at = 1; at < last;) {
        const uint32_t bytes = four(text + at), hash = bytes * 0x9e3779b1u >> (32 - bits);
        const uint32_t before = table[hash];
        table[hash] = (uint16_t)at;
        if (four(text + before) != bytes) {
            at += 1 + (missed++ >> PATIENCE_BITS);
            continue;
        }
        const uint32_t n = same_bytes(text + before, text + at, text + length);
        if (at > from)
            out = put_literal(out, text + from, at - from, true);
        out = put_copy(out, at - before, n);
        from = at += n;
        missed = 0;
    }
    return from < length ? put_literal(out, text + from, length - from, false) : out;
}

static struct packer *snappy_new(struct fault *fault)
{
    struct packer *p = calloc(1, sizeof *p);
    if (!p)
        fault_no_memory(fault);
    return p;
}

static void snappy_free(struct packer *p)
{
    if (p)
        free(p->out);
    free(p);
}

static const char *snappy_pack(struct packer *p, const char *text, size_t length, size_t *packed)
{
    const size_t most = OVERHEAD + length + length / 6; /* what the format's authors reserve */
    if (most > p->size) {
        char *larger = realloc(p->out, most);
        if (!larger)
            return NULL;
        p->out = larger;
        p->size = most;
    }
    uint8_t *out = (uint8_t *)p->out;
    size_t rest = length;
    for (; rest >= 128; rest >>= 7)
        *out++ = (uint8_t)(rest | 128);
    *out++ = (uint8_t)rest;
    for (size_t at = 0; at < length; at += BLOCK_BYTES)
        out = pack_block(p->table, (const uint8_t *)text + at,
                         (uint32_t)(length - at < BLOCK_BYTES ? length - at : BLOCK_BYTES), out);
    *packed = (size_t)(out - (uint8_t *)p->out);
    return p->out;
}

const struct packing packing_snappy = {
    .make = snappy_new, .drop = snappy_free, .pack = snappy_pack};
