/* The loops that fill columns, without branches that depend on a value: vector code. kernels.c is
 * compiled per instruction set, the best is chosen at the start. All give equal bytes, so rows do
 * not depend on the host. */
#ifndef SCALE_KERNELS_H
#define SCALE_KERNELS_H

#include <stdint.h>

#include "chance.h"

/* From a level (0 .. 2^32-1) to a value. */
struct scaling {
    double low;       /* value of level 0 */
    double span;      /* greatest value minus least */
    double steps;     /* steps per unit; 0: not rounded to steps */
    double low_steps; /* low in steps */
};

struct piece { /* rows of one table, which do not cross a multiple of 2^32 */
    uint64_t hash; /* hash of the table */
    uint32_t row;  /* number of the first row, its low bits */
    uint32_t rows;
};

struct kept_walks { /* blocks of successive tables, as walk.h describes them */
    const uint32_t *origin, *step, *noise_a, *noise_b;
};

struct kernels {
    const char *name;
    void (*times)(int64_t *out, uint32_t n, int64_t first, int64_t step);
    /* Levels of pieces, `rows` rows in all, one after another. */
    void (*level_constant)(uint32_t *out, const struct piece *pieces, uint32_t count, uint32_t rows,
                           uint32_t stream);
    void (*level_uniform)(uint32_t *out, const struct piece *pieces, uint32_t count, uint32_t rows,
                          uint32_t stream);
    void (*level_walk)(uint32_t *out, const struct piece *pieces, uint32_t count, uint32_t rows,
                       uint32_t stream);
    /* For one row of each of n tables. */
    void (*level_kept)(uint32_t *out, uint32_t n, const uint32_t *rows,
                       const struct kept_walks *kept);
    void (*to_bool)(uint8_t *out, const uint32_t *level, uint32_t n);
    void (*to_8)(uint8_t *out, const uint32_t *level, uint32_t n, const struct scaling *s);
    void (*to_16)(uint16_t *out, const uint32_t *level, uint32_t n, const struct scaling *s);
    void (*to_32)(uint32_t *out, const uint32_t *level, uint32_t n, const struct scaling *s);
    void (*to_64)(uint64_t *out, const uint32_t *level, uint32_t n, const struct scaling *s);
    void (*to_float)(float *out, const uint32_t *level, uint32_t n, const struct scaling *s);
    void (*to_double)(double *out, const uint32_t *level, uint32_t n, const struct scaling *s);
    /* With a second level for the low bits, so that every bit of the fraction is random. */
    void (*to_double_full)(double *out, const uint32_t *level, const uint32_t *low, uint32_t n,
                           const struct scaling *s);
    void (*add_level)(int64_t *out, const int64_t *times, const uint32_t *level, uint32_t n,
                      uint32_t shift);
    void (*nulls)(uint8_t *out, const uint32_t *level, uint32_t n, uint32_t threshold);
    void (*words)(uint8_t *out, uint32_t n, struct key_pair key); /* n words of 4 bytes */
    /* From random bytes, with 6 random bits in each. */
    void (*plain_text)(uint8_t *bytes, uint32_t n);
};

const struct kernels *kernels_pick(void);

#endif
