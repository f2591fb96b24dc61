/* Chance as a pure function: hashing instead of a generator with state, so that row n can be
 * made without the rows before it. */
#ifndef SCALE_CHANCE_H
#define SCALE_CHANCE_H

#include <stdint.h>

#include "kernels.h"

static inline uint64_t chance_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

static inline uint64_t chance_of(uint64_t seed, uint64_t a, uint64_t b)
{
    const uint64_t x = chance_mix(seed + 0x9e3779b97f4a7c15u);
    return chance_mix(chance_mix(x ^ (a * 0xa0761d6478bd642fu + 1)) ^
                      (b * 0xe7037ed1a0b428dbu + 1));
}

static inline struct key_pair chance_key(uint64_t hash)
{
    return (struct key_pair){(uint32_t)hash, (uint32_t)(hash >> 32)};
}

#endif
