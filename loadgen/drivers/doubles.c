/* See doubles.h. No branch depends on a value. */
#include "doubles.h"

#include <string.h>

#include "cells.h"
#include "numbers.h"

/* Below 8000 a float tells thousandths apart, and adding a half is exact. */
static bool thousandths(double *restrict out, const float *restrict in, uint32_t n)
{
    uint32_t others = 0;
    for (uint32_t i = 0; i < n; i++) {
        const float value = in[i] > -8000 && in[i] < 8000 ? in[i] : 0;
        const int32_t number = (int32_t)(value * 1000 + (value < 0 ? -0.5f : 0.5f));
        others |= (float)number / 1000 != in[i];
        out[i] = (double)number / 1000;
    }
    return others == 0;
}

#define WHOLE(type)                                                                                \
    for (uint32_t i = 0; i < n; i++)                                                               \
        out[i] = ((const type *)values)[first + i];                                                \
    break

void doubles_read(double *restrict out, enum type type, const void *restrict values, uint32_t first,
                  uint32_t n)
{
    switch (type) {
    case TYPE_FLOAT:
        if (!thousandths(out, (const float *)values + first, n))
            for (uint32_t i = 0; i < n; i++)
                out[i] = numbers_double_of(((const float *)values)[first + i]);
        break;
    case TYPE_DOUBLE:
        memcpy(out, (const double *)values + first, n * sizeof *out);
        break;
    case TYPE_INT:
        WHOLE(int32_t);
    case TYPE_SMALLINT:
        WHOLE(int16_t);
    case TYPE_TINYINT:
        WHOLE(int8_t);
    default:
        for (uint32_t i = 0; i < n; i++)
            out[i] = (double)cell_whole(type, values, first + i);
        break;
    }
}
