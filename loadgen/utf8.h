/* UTF-8 of server messages, which may be cut within a character. A header alone, for the tests'
 * probes. */
#ifndef SCALE_UTF8_H
#define SCALE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 1..4, 0 if invalid. *is_cut: only the beginning. */
static inline size_t utf8_length(const char *text, size_t left, bool *is_cut)
{
    const unsigned char *at = (const unsigned char *)text;
    const size_t length = at[0] < 0x80                    ? 1
                          : at[0] >= 0xc2 && at[0] < 0xe0 ? 2
                          : (at[0] & 0xf0) == 0xe0        ? 3
                          : at[0] >= 0xf0 && at[0] < 0xf5 ? 4
                                                          : 0;
    *is_cut = false;
    for (size_t i = 1; i < length; i++) {
        if (i == left) {
            *is_cut = true;
            return 0;
        }
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        if (i == 1 && ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
                       (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f)))
            return 0; /* overlong, a surrogate, or beyond the last code point */
    }
    return length;
}

/* Writes a character of up to 21 bits; returns its length. */
static inline size_t utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const uint32_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    out[0] = (char)(0xf00u >> n | code >> 6 * (n - 1));
    for (uint32_t k = 1; k < n; k++)
        out[k] = (char)(0x80 | (code >> 6 * (n - 1 - k) & 63));
    return n;
}

/* Removes a truncated character at the end, writes '?' for other invalid bytes. */
static inline void utf8_mend(char *text, size_t length)
{
    bool is_cut;
    for (size_t i = 0; i < length;) {
        const size_t bytes = utf8_length(text + i, length - i, &is_cut);
        if (is_cut) {
            text[i] = '\0';
            return;
        }
        if (bytes == 0)
            text[i] = '?';
        i += bytes ? bytes : 1;
    }
}

#endif
