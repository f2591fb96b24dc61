/* The digest of an answer: a hash of its values in their order, equal for every driver. A value is
 * 64 bits: a whole number, the bits of a double, ns since 1970, the FNV-1a hash of a text, a
 * constant for NULL. It starts at 0; each row ends with the word ROW. */
#ifndef SCALE_DIGEST_H
#define SCALE_DIGEST_H

#include <stddef.h>
#include <string.h>

#include "chance.h"

#define DIGEST_ROW 0x524f57ull
#define DIGEST_NULL 0x4e554c4cull

static inline uint64_t digest_word(uint64_t digest, uint64_t word)
{
    return chance_of(digest, word);
}

static inline uint64_t digest_real(uint64_t digest, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return digest_word(digest, bits);
}

static inline uint64_t digest_fnv(uint64_t hash, const void *bytes, size_t length)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3ull;
    return hash;
}

#define DIGEST_FNV_START 0xcbf29ce484222325ull

static inline uint64_t digest_text(uint64_t digest, const void *bytes, size_t length)
{
    return digest_word(digest, digest_fnv(DIGEST_FNV_START, bytes, length));
}

#endif
