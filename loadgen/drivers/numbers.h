/* Numbers as text that reads back the same, and words. A byte beyond the end may be written. */
#ifndef SCALE_NUMBERS_H
#define SCALE_NUMBERS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { NUMBER_BYTES = 40 }; /* most that a number takes */

/* Below 1000: three digits, and the length as a fraction with a point, without trailing zeros. */
extern const char numbers_triples[4 * 1000 + 1];

/* Below 1000: digits without leading zeros, and their count. */
extern const char numbers_shorts[4 * 1000 + 1];

char *numbers_put_large(char *out, uint64_t value); /* from a million on */
char *numbers_put_any_float(char *out, float value);
char *numbers_put_any_double(char *out, double value);

/* Nearest to the decimal that put_float writes. */
double numbers_double_of(float value);

static inline char *put_text(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

static inline char *put_word(char *out, const char *word)
{
    return put_text(out, word, strlen(word));
}

static inline char *put_triple(char *out, uint32_t value)
{
    memcpy(out, numbers_triples + 4 * value, 4);
    return out + 3;
}

static inline char *put_below_1000(char *out, uint32_t value)
{
    const char *const digits = numbers_shorts + 4 * value;
    memcpy(out, digits, 4);
    return out + digits[3];
}

static inline char *put_unsigned(char *out, uint64_t value)
{
    if (value < 1000)
        return put_below_1000(out, (uint32_t)value);
    if (value >= 1000000)
        return numbers_put_large(out, value);
    out = put_below_1000(out, (uint32_t)value / 1000);
    return put_triple(out, (uint32_t)value % 1000);
}

static inline char *put_whole(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return put_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Most values are rounded to thousandths: three digits say all of it. */
static inline char *put_thousandths(char *out, int32_t thousandths)
{
    if (thousandths < 0)
        *out++ = '-';
    const uint32_t size = (uint32_t)(thousandths < 0 ? -thousandths : thousandths);
    const char *const triple = numbers_triples + 4 * (size % 1000);
    out = put_unsigned(out, size / 1000);
    *out = '.';
    memcpy(out + 1, triple, 4);
    return out + triple[3];
}

static inline char *put_float(char *out, float value)
{
    if (fabsf(value) < 1e6f) {
        const int32_t thousandths = (int32_t)lrintf(value * 1000);
        if ((float)thousandths / 1000 == value)
            return put_thousandths(out, thousandths);
    }
    return numbers_put_any_float(out, value);
}

static inline char *put_double(char *out, double value)
{
    if (fabs(value) < 1e6) {
        const int32_t thousandths = (int32_t)lrint(value * 1000);
        if ((double)thousandths / 1000 == value)
            return put_thousandths(out, thousandths);
    }
    return numbers_put_any_double(out, value);
}

#endif
