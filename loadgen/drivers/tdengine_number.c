/* Numbers as text that reads back as the same number, without printf on the way but for very
 * small and very large ones. See tdengine_parts.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tdengine_parts.h"

__extension__ typedef unsigned __int128 wide;

static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

static const uint64_t tens[20] = {
    1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u, 10000000u, 100000000u, 1000000000u,
    10000000000u, 100000000000u, 1000000000000u, 10000000000000u, 100000000000000u,
    1000000000000000u, 10000000000000000u, 100000000000000000u, 1000000000000000000u,
    10000000000000000000u,
};

static inline uint32_t digits_of(uint64_t value)
{
    uint32_t digits = 1;
    if (value >= 10000000000u) {
        digits = 11;
        value /= 10000000000u;
    }
    for (; value >= 10; value /= 10)
        digits++;
    return digits;
}

/* Exactly `digits` digits, with zeros before. */
static inline char *put_digits(char *out, uint64_t value, uint32_t digits)
{
    uint32_t at = digits;
    for (; at >= 2; at -= 2, value /= 100)
        memcpy(out + at - 2, pairs + 2 * (value % 100), 2);
    if (at == 1)
        *out = (char)('0' + value % 10);
    return out + digits;
}

char *tdengine_put_unsigned(char *out, uint64_t value)
{
    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    return put_digits(out, value, digits_of(value));
}

char *tdengine_put_whole(char *out, int64_t value)
{
    if (value < 0)
        *out++ = '-';
    return tdengine_put_unsigned(out, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* whole + fraction / 10^decimals, the fraction without the zeros at its end. */
static char *put_decimal(char *out, uint64_t whole, uint64_t fraction, uint32_t decimals)
{
    if (fraction == tens[decimals]) { /* rounded up */
        whole++;
        fraction = 0;
    }
    out = tdengine_put_unsigned(out, whole);
    if (fraction == 0)
        return out;
    *out++ = '.';
    out = put_digits(out, fraction, decimals);
    while (out[-1] == '0')
        out--;
    return out;
}

/* Thousandths are what values are rounded to most often: three digits then say all of it. */
static inline bool put_thousandths(char **out, int32_t thousandths)
{
    uint32_t rest = (uint32_t)(thousandths < 0 ? -thousandths : thousandths);
    char *at = *out;
    if (thousandths < 0)
        *at++ = '-';
    at = tdengine_put_unsigned(at, rest / 1000);
    rest %= 1000;
    at[0] = '.';
    at[1] = (char)('0' + rest / 100);
    memcpy(at + 2, pairs + 2 * (rest % 100), 2);
    *out = at + 4;
    return true;
}

/* Nine digits tell any float from its neighbours. */
char *tdengine_put_float(char *out, float value)
{
    if (fabsf(value) < 1e6f) {
        const int32_t thousandths = (int32_t)lrintf(value * 1000);
        if ((float)thousandths / 1000 == value && put_thousandths(&out, thousandths))
            return out;
    }
    const double size = fabs((double)value);
    if (!(size >= 1e-4 && size < 1e9))
        return out + snprintf(out, TDENGINE_NUMBER_BYTES, "%.9g", (double)value);
    const uint32_t whole = (uint32_t)size;
    const uint32_t decimals = whole ? 9 - digits_of(whole) : 12;
    const double scaled = (size - whole) * (double)tens[decimals];
    if (value < 0)
        *out++ = '-';
    return put_decimal(out, whole, (uint64_t)(scaled + 0.5), decimals);
}

/* Seventeen digits tell any double from its neighbours. The fraction is taken as a whole number
 * of 2^-63, which it is exactly. */
char *tdengine_put_double(char *out, double value)
{
    const double size = fabs(value);
    if (size < 1e6) {
        const int32_t thousandths = (int32_t)lrint(value * 1000);
        if ((double)thousandths / 1000 == value && put_thousandths(&out, thousandths))
            return out;
    }
    if (!(size >= 0.01 && size < 1e15))
        return out + snprintf(out, TDENGINE_NUMBER_BYTES, "%.17g", value);
    const uint64_t whole = (uint64_t)size;
    const uint32_t decimals = whole ? 17 - digits_of(whole) : 18;
    const uint64_t parts = (uint64_t)((size - (double)whole) * 9223372036854775808.0);
    const wide scaled = (wide)parts * tens[decimals] + ((uint64_t)1 << 62);
    if (value < 0)
        *out++ = '-';
    return put_decimal(out, whole, (uint64_t)(scaled >> 63), decimals);
}
