/* Base64 with padding. A header alone, for the tests' probes. */
#ifndef SCALE_BASE64_H
#define SCALE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* With a zero byte. */
static inline size_t base64_bytes(size_t length)
{
    return (length + 2) / 3 * 4 + 1;
}

static inline void base64_put(char *out, const void *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *in = bytes;
    for (size_t i = 0; i < length; i += 3) {
        const uint32_t left = length - i < 3 ? (uint32_t)(length - i) : 3;
        uint32_t word = (uint32_t)in[i] << 16;
        word |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        word |= left > 2 ? in[i + 2] : 0;
        for (uint32_t digit = 0; digit < 4; digit++)
            *out++ = digit <= left ? digits[word >> (18 - 6 * digit) & 63] : '=';
    }
    *out = '\0';
}

#endif
