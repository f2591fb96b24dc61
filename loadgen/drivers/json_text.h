/* Text within a string of JSON. */
#ifndef SCALE_JSON_TEXT_H
#define SCALE_JSON_TEXT_H

#include <stddef.h>
#include <string.h>

enum { JSON_ESCAPE_BYTES = 6 }; /* most bytes of a byte of text */

static inline char *json_put_text(char *out, const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < ' ') {
            memcpy(out, "\\u00", 4);
            out[4] = digits[c >> 4];
            out[5] = digits[c & 15];
            out += JSON_ESCAPE_BYTES;
            continue;
        }
        if (c == '"' || c == '\\')
            *out++ = '\\';
        *out++ = (char)c;
    }
    return out;
}

#endif
