/* Random numbers as a pure function without state, so that row n needs no rows before it. */
#ifndef SCALE_CHANCE_H
#define SCALE_CHANCE_H

#include <stdint.h>

struct key_pair { /* keys of one stream, such as a column of a table */
    uint32_t a, b;
};

static inline uint64_t chance_mix(uint64_t x)
{
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ (x >> 32);
}

/* Calls can be chained for several numbers. */
static inline uint64_t chance_of(uint64_t hash, uint64_t number)
{
    return chance_mix(hash + (number + 1) * 0x9e3779b97f4a7c15u);
}

static inline struct key_pair chance_key(uint64_t hash)
{
    return (struct key_pair){(uint32_t)hash, (uint32_t)(hash >> 32)};
}

/* Mixes a row number to a level. The second key between the rounds makes streams differ. */
static inline uint32_t chance_level(uint32_t row, struct key_pair key)
{
    uint32_t x = row + key.a;
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= key.b;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

#endif
