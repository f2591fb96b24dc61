/* Numbers as text must read back as the same numbers: random bit patterns of all sizes, numbers
 * with few decimals, and edges. Prints the first that does not and ends with 1. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/numbers.h"

static uint64_t state = 88172645463325252u;

static uint64_t chance(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void check_double(double value)
{
    char text[64];
    *put_double(text, value) = '\0';
    if (strtod(text, NULL) != value || strlen(text) >= NUMBER_BYTES) {
        printf("double %.17g as %s\n", value, text);
        exit(1);
    }
}

static void check_float(float value)
{
    char text[64];
    *put_float(text, value) = '\0';
    if (strtof(text, NULL) != value || strlen(text) >= NUMBER_BYTES) {
        printf("float %.9g as %s\n", (double)value, text);
        exit(1);
    }
}

static void check_whole(int64_t value)
{
    char text[64], expected[64];
    *put_whole(text, value) = '\0';
    snprintf(expected, sizeof expected, "%lld", (long long)value);
    if (strcmp(text, expected) != 0) {
        printf("whole %s as %s\n", expected, text);
        exit(1);
    }
}

int main(void)
{
    static const double edges[] = {0,    0.5,  0.001,  0.0005, 0.009999999999999999,
                                   0.01, 1,    9.9999, 999999, 999999.9995,
                                   1e6,  1e15, 1e300,  5e-324, 0.1,
                                   1e9};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
        check_double(edges[i]);
        check_double(-edges[i]);
        check_double(nextafter(edges[i], INFINITY));
        check_double(nextafter(edges[i], -INFINITY));
        check_float((float)edges[i] < 1e38f ? (float)edges[i] : 1);
        check_float(nextafterf((float)fmin(edges[i], 1e38), -INFINITY));
    }
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = chance();
        double wide;
        float single;
        memcpy(&wide, &bits, sizeof wide);
        memcpy(&single, &bits, sizeof single);
        if (isfinite(wide))
            check_double(wide);
        if (isfinite(single))
            check_float(single);
        check_double((double)bits / 18446744073709551616.0 * 1000);
        check_float((float)((double)bits / 18446744073709551616.0 * 100));
        check_double((double)(int64_t)(bits % 2000000) / 1000 - 1000);
        check_float((float)(int64_t)(bits % 2000000) / 1000 - 1000);
        check_whole((int64_t)(bits >> (bits & 63)));
        check_whole((int64_t)bits);
    }
    check_whole(INT64_MIN);
    check_whole(INT64_MAX);
    return 0;
}
