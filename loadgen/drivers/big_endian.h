/* Numbers with the most significant byte first. */
#ifndef SCALE_BIG_ENDIAN_H
#define SCALE_BIG_ENDIAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

/* Each returns the end of what it wrote. */
static inline uint8_t *put_u16(uint8_t *out, uint16_t value)
{
    const uint16_t big = htobe16(value);
    memcpy(out, &big, sizeof big);
    return out + sizeof big;
}

static inline uint8_t *put_u32(uint8_t *out, uint32_t value)
{
    const uint32_t big = htobe32(value);
    memcpy(out, &big, sizeof big);
    return out + sizeof big;
}

static inline uint8_t *put_u64(uint8_t *out, uint64_t value)
{
    const uint64_t big = htobe64(value);
    memcpy(out, &big, sizeof big);
    return out + sizeof big;
}

#endif
