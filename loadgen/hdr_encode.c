/* Writes a histogram in HdrHistogram's V2 encoding (histogram.h): zig-zag variable-length counts,
 * runs of zeros as one negative number, in a zlib stream of stored blocks, which needs no library.
 * */
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

enum {
    COOKIE_V2 = 0x1c849313,         /* counts of up to 64 bits, variable length */
    COOKIE_COMPRESSED = 0x1c849314, /* the same within a zlib stream */
    STORED_MAX = 65535,             /* bytes of a stored block */
    HEADER_BYTES = 40,
};

struct bytes {
    uint8_t *at;
    size_t used;
};

static void put_u8(struct bytes *b, uint64_t value)
{
    b->at[b->used++] = (uint8_t)value;
}

static void put_u32(struct bytes *b, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        put_u8(b, value >> shift);
}

static void put_u64(struct bytes *b, uint64_t value)
{
    put_u32(b, (uint32_t)(value >> 32));
    put_u32(b, (uint32_t)value);
}

/* Seven bits a byte, least first; a ninth byte holds eight. */
static void put_zigzag(struct bytes *b, int64_t value)
{
    uint64_t rest = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
    for (int i = 0; i < 8; i++) {
        if (rest < 0x80) {
            put_u8(b, rest);
            return;
        }
        put_u8(b, rest | 0x80);
        rest >>= 7;
    }
    put_u8(b, rest);
}

static void put_counts(struct bytes *b, const struct histogram *h)
{
    uint32_t end = h->length;
    while (end > 0 && counter_get(&h->counts[end - 1]) == 0)
        end--;
    for (uint32_t i = 0; i < end;) {
        const uint64_t count = counter_get(&h->counts[i]);
        if (count) {
            put_zigzag(b, (int64_t)count);
            i++;
            continue;
        }
        uint32_t run = i;
        while (counter_get(&h->counts[run]) == 0)
            run++;
        put_zigzag(b, run - i == 1 ? 0 : -(int64_t)(run - i));
        i = run;
    }
}

static void put_histogram(struct bytes *b, const struct histogram *h)
{
    const double ratio = 1.0;
    uint64_t ratio_bits;
    memcpy(&ratio_bits, &ratio, sizeof ratio);
    put_u32(b, COOKIE_V2);
    put_u32(b, 0); /* length of the counts, below */
    put_u32(b, 0); /* normalizing index offset */
    put_u32(b, h->digits);
    put_u64(b, 1); /* lowest discernible value */
    put_u64(b, HISTOGRAM_HIGHEST_NS);
    put_u64(b, ratio_bits);
    put_counts(b, h);
    const uint32_t length = (uint32_t)(b->used - HEADER_BYTES);
    struct bytes at_length = {b->at, 4};
    put_u32(&at_length, length);
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

static void put_zlib(struct bytes *out, const struct bytes *in)
{
    put_u8(out, 0x78); /* deflate, window of 32 KiB */
    put_u8(out, 0x01);
    for (size_t done = 0; done < in->used || done == 0;) {
        const size_t left = in->used - done, part = left < STORED_MAX ? left : STORED_MAX;
        put_u8(out, part == left); /* the last block says so; kind 0: stored */
        put_u8(out, part);
        put_u8(out, part >> 8);
        put_u8(out, ~part);
        put_u8(out, ~part >> 8);
        memcpy(out->at + out->used, in->at + done, part);
        out->used += part;
        done += part;
    }
    put_u32(out, adler32(in->at, in->used));
}

static char *base64(const struct bytes *in)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((in->used + 2) / 3 * 4 + 1), *out = text;
    for (size_t i = 0; text && i < in->used; i += 3) {
        const size_t left = in->used - i;
        const uint32_t three = (uint32_t)in->at[i] << 16 |
                               (left > 1 ? (uint32_t)in->at[i + 1] << 8 : 0) |
                               (left > 2 ? in->at[i + 2] : 0u);
        *out++ = digits[three >> 18];
        *out++ = digits[three >> 12 & 63];
        *out++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *out++ = left > 2 ? digits[three & 63] : '=';
    }
    if (text)
        *out = '\0';
    return text;
}

char *histogram_encode(const struct histogram *h)
{
    const size_t plain_max = HEADER_BYTES + (size_t)h->length * 9;
    struct bytes plain = {malloc(plain_max), 0};
    struct bytes packed = {malloc(plain_max + plain_max / STORED_MAX * 5 + 32), 0};
    char *text = NULL;
    if (plain.at && packed.at) {
        put_histogram(&plain, h);
        put_u32(&packed, COOKIE_COMPRESSED);
        put_u32(&packed, 0);
        put_zlib(&packed, &plain);
        struct bytes at_length = {packed.at, 4};
        put_u32(&at_length, (uint32_t)packed.used - 8);
        text = base64(&packed);
    }
    free(plain.at);
    free(packed.at);
    return text;
}
