/* Whole numbers of variable size, seven bits a byte, the lowest first. */
#ifndef SCALE_VARINT_H
#define SCALE_VARINT_H

#include <stdint.h>

enum { VARINT_BYTES = 10 }; /* the most that a number takes */

/* Returns the end of what it wrote. */
static inline char *put_varint(char *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *out++ = (char)(value | 128);
    *out++ = (char)value;
    return out;
}

static inline uint32_t varint_bytes(uint64_t value)
{
    uint32_t bytes = 1;
    while (value >>= 7)
        bytes++;
    return bytes;
}

#endif
