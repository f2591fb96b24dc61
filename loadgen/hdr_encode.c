/* HdrHistogram's V2 encoding (histogram.h): zig-zag variable-length counts, runs of zeros as one
 * negative number, in a zlib stream of stored blocks, which needs no library. */
#include <stdlib.h>
#include <string.h>

#include "base64.h"
#include "drivers/big_endian.h"
#include "histogram.h"

enum {
    COOKIE_V2 = 0x1c849313,         /* counts of up to 64 bits, variable length */
    COOKIE_COMPRESSED = 0x1c849314, /* the same within a zlib stream */
    STORED_MAX = 65535,             /* bytes of a stored block */
    HEADER_BYTES = 40,
};

#define RATIO_ONE 0x3ff0000000000000u /* the bits of the double 1.0 */

/* Least first; a ninth byte holds eight bits. */
static uint8_t *put_zigzag(uint8_t *out, int64_t value)
{
    uint64_t rest = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (int i = 0; i < 8 && rest >= 0x80; i++, rest >>= 7)
        *out++ = (uint8_t)(rest | 0x80);
    *out++ = (uint8_t)rest;
    return out;
}

static uint8_t *put_counts(uint8_t *out, const struct histogram *h)
{
    uint32_t end = h->length;
    while (end > 0 && counter_get(&h->counts[end - 1]) == 0)
        end--;
    for (uint32_t i = 0; i < end;) {
        const uint64_t count = counter_get(&h->counts[i]);
        if (count) {
            out = put_zigzag(out, (int64_t)count);
            i++;
            continue;
        }
        uint32_t run = i;
        while (counter_get(&h->counts[run]) == 0)
            run++;
        out = put_zigzag(out, run - i == 1 ? 0 : -(int64_t)(run - i));
        i = run;
    }
    return out;
}

static uint8_t *put_histogram(uint8_t *begin, const struct histogram *h)
{
    uint8_t *out = put_u32(begin, COOKIE_V2) + 4; /* length of the counts, below */
    out = put_u32(out, 0);                        /* normalizing index offset */
    out = put_u32(out, h->digits);
    out = put_u64(out, 1); /* lowest discernible value */
    out = put_u64(put_u64(out, HISTOGRAM_HIGHEST_NS), RATIO_ONE);
    out = put_counts(out, h);
    put_u32(begin + 4, (uint32_t)(out - begin - HEADER_BYTES));
    return out;
}

static uint32_t adler32(const uint8_t *data, size_t length)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < length; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static uint8_t *put_zlib(uint8_t *out, const uint8_t *in, size_t length)
{
    *out++ = 0x78; /* deflate, window of 32 KiB */
    *out++ = 0x01;
    for (size_t done = 0; done < length || done == 0;) {
        const size_t left = length - done, part = left < STORED_MAX ? left : STORED_MAX;
        *out++ = part == left; /* the last block says so; kind 0: stored */
        *out++ = (uint8_t)part;
        *out++ = (uint8_t)(part >> 8);
        *out++ = (uint8_t)~part;
        *out++ = (uint8_t)(~part >> 8);
        memcpy(out, in + done, part);
        out += part;
        done += part;
    }
    return put_u32(out, adler32(in, length));
}

char *histogram_encode(const struct histogram *h)
{
    const size_t plain_max = HEADER_BYTES + (size_t)h->length * 9;
    uint8_t *plain = malloc(plain_max);
    uint8_t *packed = malloc(plain_max + plain_max / STORED_MAX * 5 + 32);
    char *text = NULL;
    if (plain && packed) {
        const size_t length = (size_t)(put_histogram(plain, h) - plain);
        const size_t used = (size_t)(put_zlib(packed + 8, plain, length) - packed);
        put_u32(put_u32(packed, COOKIE_COMPRESSED), (uint32_t)used - 8);
        text = malloc(base64_bytes(used));
        if (text)
            base64_put(text, packed, used);
    }
    free(plain);
    free(packed);
    return text;
}
