/* A walk as a pure function of a column's hash and a row: value noise. At the ends of blocks it is
 * the sum of four octaves of hashed knots, 8 times as far apart each; between, straight with noise.
 * Any row costs the same. */
#ifndef SCALE_WALK_H
#define SCALE_WALK_H

#include <stdint.h>

#include "chance.h"

enum { BLOCK_SHIFT = 7, BLOCK_ROWS = 1 << BLOCK_SHIFT, OCTAVES = 4, KNOT_SHIFT = 11 };

/* Height at row n: origin + step * n + noise, in 2^-31, modulo 2^32. */
struct walk_line {
    uint32_t origin, step;
    struct key_pair noise;
};

/* At start and end of a block, 0 .. 0.96 in 2^-31. The end is exactly the next one's start. */
static inline void walk_heights(struct key_pair key, uint32_t block, int32_t *start, int32_t *end)
{
    static const int32_t weights[OCTAVES] = {24, 48, 70, 104}; /* 256ths; the noise has the rest */
    int32_t sum_start = 0, sum_end = 0;
    for (uint32_t octave = 0; octave < OCTAVES; octave++) {
        const uint32_t shift = octave * 3, knot = (block >> shift) * OCTAVES + octave;
        const int32_t part = (int32_t)(block & ((1u << shift) - 1));
        const int32_t a = (int32_t)(chance_level(knot, key) >> KNOT_SHIFT);
        const int32_t b = (int32_t)(chance_level(knot + OCTAVES, key) >> KNOT_SHIFT);
        sum_start += (a + (((b - a) * part) >> shift)) * weights[octave];
        sum_end += (a + (((b - a) * (part + 1)) >> shift)) * weights[octave];
    }
    *start = sum_start * 4;
    *end = sum_end * 4;
}

/* The block that holds `row`; the noise has a key of its own. */
static inline struct walk_line walk_line(uint64_t hash, uint32_t row)
{
    const struct key_pair knots = chance_key(hash);
    const uint32_t block = row >> BLOCK_SHIFT;
    int32_t start, end;
    walk_heights(knots, block, &start, &end);
    const uint32_t step = (uint32_t)((end - start) / BLOCK_ROWS);
    return (struct walk_line){
        .origin = (uint32_t)start - step * (block << BLOCK_SHIFT),
        .step = step,
        .noise = {knots.b, knots.a},
    };
}

static inline uint32_t walk_level(uint32_t row, uint32_t origin, uint32_t step,
                                  struct key_pair noise)
{
    return (origin + step * row + (chance_level(row, noise) >> 6)) << 1;
}

#endif
