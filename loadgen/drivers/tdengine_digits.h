/* Digits of the numbers that are met most often, inlined where rows are written: small whole
 * numbers and thousandths. All others are tdengine_number.c's. What is written may go a byte
 * beyond what is returned. */
#ifndef SCALE_TDENGINE_DIGITS_H
#define SCALE_TDENGINE_DIGITS_H

#include <math.h>
#include <string.h>

#include "tdengine_parts.h"

/* Of each number below 1000 its three digits, and how long it is as a fraction, with its point and
 * without the zeros at its end. */
extern const char tdengine_triples[4 * 1000 + 1];

/* Of each number below 1000 its digits without zeros before them, and how many they are. */
extern const char tdengine_shorts[4 * 1000 + 1];

char *tdengine_put_large(char *out, uint64_t value); /* from a million on */
char *tdengine_put_any_float(char *out, float value);
char *tdengine_put_any_double(char *out, double value);

static inline char *put_triple(char *out, uint32_t value)
{
    memcpy(out, tdengine_triples + 4 * value, 4);
    return out + 3;
}

static inline char *put_below_1000(char *out, uint32_t value)
{
    const char *const digits = tdengine_shorts + 4 * value;
    memcpy(out, digits, 4);
    return out + digits[3];
}

static inline char *put_unsigned(char *out, uint64_t value)
{
    if (value < 1000)
        return put_below_1000(out, (uint32_t)value);
    if (value >= 1000000)
        return tdengine_put_large(out, value);
    out = put_below_1000(out, (uint32_t)value / 1000);
    return put_triple(out, (uint32_t)value % 1000);
}

static inline char *put_whole(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return put_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Thousandths are what values are rounded to most often: three digits then say all of it. */
static inline char *put_thousandths(char *out, int32_t thousandths)
{
    if (thousandths < 0)
        *out++ = '-';
    const uint32_t size = (uint32_t)(thousandths < 0 ? -thousandths : thousandths);
    const char *const triple = tdengine_triples + 4 * (size % 1000);
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
    return tdengine_put_any_float(out, value);
}

static inline char *put_double(char *out, double value)
{
    if (fabs(value) < 1e6) {
        const int32_t thousandths = (int32_t)lrint(value * 1000);
        if ((double)thousandths / 1000 == value)
            return put_thousandths(out, thousandths);
    }
    return tdengine_put_any_double(out, value);
}

#endif
