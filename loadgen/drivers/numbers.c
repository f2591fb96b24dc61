/* See numbers.h. printf only for very small and very large numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"

__extension__ typedef unsigned __int128 wide;

/* It takes the lists of macros for nested expressions. */
/* clang-format off */
/* `before` with each digit, and `end` behind; 0 has an end of its own. */
#define ONE_TO_NINE(before, end)                                                                \
    before "1" end before "2" end before "3" end before "4" end before "5" end before "6" end   \
        before "7" end before "8" end before "9" end
#define HUNDRED(h, end)                                                                         \
    h "00" end ONE_TO_NINE(h "0", "\4") TEN(h "1") TEN(h "2") TEN(h "3") TEN(h "4") TEN(h "5")  \
        TEN(h "6") TEN(h "7") TEN(h "8") TEN(h "9")
#define TEN(before) before "0\3" ONE_TO_NINE(before, "\4")
const char numbers_triples[] =
    HUNDRED("0", "\0") HUNDRED("1", "\2") HUNDRED("2", "\2") HUNDRED("3", "\2") HUNDRED("4", "\2")
    HUNDRED("5", "\2") HUNDRED("6", "\2") HUNDRED("7", "\2") HUNDRED("8", "\2") HUNDRED("9", "\2");

#define ALL_TEN(before, end) before "0" end ONE_TO_NINE(before, end)
#define ALL_HUNDRED(h)                                                                          \
    ALL_TEN(h "0", "\3") ALL_TEN(h "1", "\3") ALL_TEN(h "2", "\3") ALL_TEN(h "3", "\3")         \
    ALL_TEN(h "4", "\3") ALL_TEN(h "5", "\3") ALL_TEN(h "6", "\3") ALL_TEN(h "7", "\3")         \
    ALL_TEN(h "8", "\3") ALL_TEN(h "9", "\3")
const char numbers_shorts[] =
    ALL_TEN("", "\0\0\1") ALL_TEN("1", "\0\2") ALL_TEN("2", "\0\2") ALL_TEN("3", "\0\2")
    ALL_TEN("4", "\0\2") ALL_TEN("5", "\0\2") ALL_TEN("6", "\0\2") ALL_TEN("7", "\0\2")
    ALL_TEN("8", "\0\2") ALL_TEN("9", "\0\2") ALL_HUNDRED("1") ALL_HUNDRED("2")
    ALL_HUNDRED("3") ALL_HUNDRED("4") ALL_HUNDRED("5") ALL_HUNDRED("6")
    ALL_HUNDRED("7") ALL_HUNDRED("8") ALL_HUNDRED("9");

static const uint64_t tens[20] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
    10000000000000000000u,
};
/* clang-format on */

static inline uint32_t digits_of(uint64_t value)
{
    uint32_t digits = 1;
    while (digits < 20 && value >= tens[digits])
        digits++;
    return digits;
}

/* Exactly `digits` digits, with zeros before. */
static inline char *put_digits(char *out, uint64_t value, uint32_t digits)
{
    uint32_t at = digits;
    for (; at >= 3; at -= 3, value /= 1000)
        memcpy(out + at - 3, numbers_triples + 4 * (value % 1000), 3);
    if (at > 0)
        memcpy(out, numbers_triples + 4 * value + 3 - at, at);
    return out + digits;
}

char *numbers_put_large(char *out, uint64_t value)
{
    const uint32_t rest = (uint32_t)(value % 1000000);
    out = put_unsigned(out, value / 1000000);
    out = put_triple(out, rest / 1000);
    return put_triple(out, rest % 1000);
}

/* whole + fraction / 10^decimals, without zeros at the end. */
static char *put_decimal(char *out, uint64_t whole, uint64_t fraction, uint32_t decimals)
{
    if (fraction == tens[decimals]) { /* rounded up */
        whole++;
        fraction = 0;
    }
    out = put_unsigned(out, whole);
    if (fraction == 0)
        return out;
    *out++ = '.';
    out = put_digits(out, fraction, decimals);
    while (out[-1] == '0')
        out--;
    return out;
}

/* Nine digits tell any float from its neighbours. */
char *numbers_put_any_float(char *out, float value)
{
    const double size = fabs((double)value);
    if (!(size >= 1e-4 && size < 1e9))
        return out + snprintf(out, NUMBER_BYTES, "%.9g", (double)value);
    const uint32_t whole = (uint32_t)size;
    const uint32_t decimals = whole ? 9 - digits_of(whole) : 12;
    const double scaled = (size - whole) * (double)tens[decimals];
    if (value < 0)
        *out++ = '-';
    return put_decimal(out, whole, (uint64_t)(scaled + 0.5), decimals);
}

/* Both are exact, so that their quotient is the nearest double. */
double numbers_double_of(float value)
{
    const double size = fabs((double)value);
    char text[NUMBER_BYTES + 1];
    if (size < 1e6) {
        const long thousandths = lrintf(value * 1000);
        if ((float)(int32_t)thousandths / 1000 == value)
            return (double)thousandths / 1000;
    }
    if (!(size >= 1e-4 && size < 1e9)) {
        *numbers_put_any_float(text, value) = '\0';
        return strtod(text, NULL);
    }
    const uint32_t whole = (uint32_t)size;
    const uint32_t decimals = whole ? 9 - digits_of(whole) : 12;
    const uint64_t fraction = (uint64_t)((size - whole) * (double)tens[decimals] + 0.5);
    return copysign((double)(whole * tens[decimals] + fraction) / (double)tens[decimals], value);
}

/* Seventeen digits tell any double from its neighbours. The fraction is an exact whole number of
 * 2^-63. */
char *numbers_put_any_double(char *out, double value)
{
    const double size = fabs(value);
    if (!(size >= 0.01 && size < 1e15))
        return out + snprintf(out, NUMBER_BYTES, "%.17g", value);
    const uint64_t whole = (uint64_t)size;
    const uint32_t decimals = whole ? 17 - digits_of(whole) : 18;
    const uint64_t parts = (uint64_t)((size - (double)whole) * 9223372036854775808.0);
    const wide scaled = (wide)parts * tens[decimals] + ((uint64_t)1 << 62);
    if (value < 0)
        *out++ = '-';
    return put_decimal(out, whole, (uint64_t)(scaled >> 63), decimals);
}
