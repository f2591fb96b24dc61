/* The loops of kernels.h, compiled per instruction set as KERNEL_SET, without fused multiply-add.
 */
#include "kernels.h"

#include <string.h>

#include "walk.h"

#ifndef KERNEL_SET
#define KERNEL_SET kernels_plain
#define KERNEL_SET_NAME "plain"
#endif

static void times(int64_t *restrict out, uint32_t n, int64_t first, int64_t step)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = first + step * (int64_t)i;
}

static void level_constant(uint32_t *restrict out, const struct piece *pieces, uint32_t count,
                           uint32_t rows, uint32_t stream)
{
    (void)pieces, (void)count, (void)stream;
    for (uint32_t i = 0; i < rows; i++)
        out[i] = 0x80000000u;
}

static void level_uniform(uint32_t *restrict out, const struct piece *pieces, uint32_t count,
                          uint32_t rows, uint32_t stream)
{
    if (rows == count) { /* one row per piece */
        for (uint32_t p = 0; p < count; p++)
            out[p] = chance_level(pieces[p].row, chance_key(chance_of(pieces[p].hash, stream)));
        return;
    }
    for (uint32_t p = 0; p < count; p++) {
        const struct key_pair key = chance_key(chance_of(pieces[p].hash, stream));
        const uint32_t n = pieces[p].rows, row = pieces[p].row;
        for (uint32_t i = 0; i < n; i++)
            out[i] = chance_level(row + i, key);
        out += n;
    }
}

static void level_walk(uint32_t *restrict out, const struct piece *pieces, uint32_t count,
                       uint32_t rows, uint32_t stream)
{
    if (rows ==
        count) { /* one row per piece: without a branch, so that the loop runs across pieces */
        for (uint32_t p = 0; p < count; p++) {
            const uint32_t row = pieces[p].row;
            const struct walk_line w = walk_line(chance_of(pieces[p].hash, stream), row);
            out[p] = walk_level(row, w.origin, w.step, w.noise);
        }
        return;
    }
    for (uint32_t p = 0; p < count; p++) {
        const uint64_t hash = chance_of(pieces[p].hash, stream);
        uint32_t row = pieces[p].row;
        for (uint32_t left = pieces[p].rows; left > 0;) {
            const uint32_t room = BLOCK_ROWS - (row & (BLOCK_ROWS - 1));
            const uint32_t n = left < room ? left : room;
            const struct walk_line w = walk_line(hash, row);
            for (uint32_t i = 0; i < n; i++)
                out[i] = walk_level(row + i, w.origin, w.step, w.noise);
            out += n;
            row += n;
            left -= n;
        }
    }
}

static void level_kept(uint32_t *restrict out, uint32_t n, const uint32_t *restrict rows,
                       const struct kept_walks *kept)
{
    const uint32_t *restrict origin = kept->origin, *restrict step = kept->step;
    const uint32_t *restrict a = kept->noise_a, *restrict b = kept->noise_b;
    for (uint32_t i = 0; i < n; i++)
        out[i] = walk_level(rows[i], origin[i], step[i], (struct key_pair){a[i], b[i]});
}

static void to_bool(uint8_t *restrict out, const uint32_t *restrict level, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint8_t)(level[i] >> 31);
}

#define TO_NARROW(name, type)                                                                      \
    static void name(type *restrict out, const uint32_t *restrict level, uint32_t n,               \
                     const struct scaling *s)                                                      \
    {                                                                                              \
        const float per_level = (float)((s->span + 1) / 16777216.0);                               \
        const int32_t low = (int32_t)s->low;                                                       \
        for (uint32_t i = 0; i < n; i++)                                                           \
            out[i] = (type)(low + (int32_t)((float)(int32_t)(level[i] >> 8) * per_level));         \
    }
TO_NARROW(to_8, uint8_t)
TO_NARROW(to_16, uint16_t)
TO_NARROW(to_32, uint32_t)

static void to_64(uint64_t *restrict out, const uint32_t *restrict level, uint32_t n,
                  const struct scaling *s)
{
    const double per_level = (s->span + 1) / 2147483648.0;
    const int64_t low = (int64_t)s->low;
    for (uint32_t i = 0; i < n; i++)
        out[i] = (uint64_t)(low + (int64_t)((double)(int32_t)(level[i] >> 1) * per_level));
}

/* Whole steps are divided once, so that 8.125 is the float nearest to it. */
static void to_float(float *restrict out, const uint32_t *restrict level, uint32_t n,
                     const struct scaling *s)
{
    if (s->steps > 0) {
        const float per_level = (float)((s->span * s->steps + 1) / 16777216.0);
        const float steps = (float)s->steps;
        const int32_t low = (int32_t)s->low_steps;
        for (uint32_t i = 0; i < n; i++) {
            const int32_t q = (int32_t)((float)(int32_t)(level[i] >> 8) * per_level);
            out[i] = (float)(low + q) / steps;
        }
    } else {
        const float per_level = (float)(s->span / 16777216.0), low = (float)s->low;
        for (uint32_t i = 0; i < n; i++)
            out[i] = low + (float)(int32_t)(level[i] >> 8) * per_level;
    }
}

static void to_double(double *restrict out, const uint32_t *restrict level, uint32_t n,
                      const struct scaling *s)
{
    if (s->steps > 0) {
        const double per_level = (s->span * s->steps + 1) / 2147483648.0, steps = s->steps;
        const int32_t low = (int32_t)s->low_steps;
        for (uint32_t i = 0; i < n; i++) {
            const int32_t q = (int32_t)((double)(int32_t)(level[i] >> 1) * per_level);
            out[i] = (double)(low + q) / steps;
        }
    } else {
        const double per_level = s->span / 2147483648.0, low = s->low;
        for (uint32_t i = 0; i < n; i++)
            out[i] = low + (double)(int32_t)(level[i] >> 1) * per_level;
    }
}

static void to_double_full(double *restrict out, const uint32_t *restrict level,
                           const uint32_t *restrict low_bits, uint32_t n, const struct scaling *s)
{
    const double span = s->span, low = s->low;
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t bits =
            0x3ff0000000000000u | (uint64_t)level[i] << 20 | (uint64_t)low_bits[i] >> 12;
        double unit; /* 1 .. 2 */
        memcpy(&unit, &bits, sizeof unit);
        out[i] = low + (unit - 1.0) * span;
    }
}

static void add_level(int64_t *restrict out, const int64_t *restrict base,
                      const uint32_t *restrict level, uint32_t n, uint32_t shift)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = base[i] + (int64_t)(level[i] >> shift);
}

static void nulls(uint8_t *restrict out, const uint32_t *restrict level, uint32_t n,
                  uint32_t threshold)
{
    for (uint32_t i = 0; i < n; i++)
        out[i] = level[i] < threshold;
}

static void words(uint8_t *restrict out, uint32_t n, struct key_pair key)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t word = chance_level(i, key);
        memcpy(out + (size_t)i * sizeof word, &word, sizeof word);
    }
}

/* '0'..'o' holds the backslash and backtick, which SQL text would escape. */
static void plain_text(uint8_t *restrict bytes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint8_t c = (uint8_t)((bytes[i] & 63) + '0');
        bytes[i] = c == '\\' ? 'y' : c == '`' ? 'z' : c;
    }
}

extern const struct kernels KERNEL_SET;
const struct kernels KERNEL_SET = {
    .name = KERNEL_SET_NAME,
    .times = times,
    .level_constant = level_constant,
    .level_uniform = level_uniform,
    .level_walk = level_walk,
    .level_kept = level_kept,
    .to_bool = to_bool,
    .to_8 = to_8,
    .to_16 = to_16,
    .to_32 = to_32,
    .to_64 = to_64,
    .to_float = to_float,
    .to_double = to_double,
    .to_double_full = to_double_full,
    .add_level = add_level,
    .nulls = nulls,
    .words = words,
    .plain_text = plain_text,
};
