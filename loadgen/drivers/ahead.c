/* See ahead.h. No branch depends on a value, so that loops run on several rows. */
#include "ahead.h"

/* Below 1000; values.c rounds in the same steps. */
#define THOUSANDTHS(name, type, most)                                                              \
    static bool name(uint32_t *restrict out, const type *restrict in, uint32_t n)                  \
    {                                                                                              \
        uint32_t others = 0;                                                                       \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            const type value = in[i] >= 0 && in[i] < most ? in[i] : 0;                             \
            const int32_t number = (int32_t)(value * 1000 + (type)0.5);                            \
            others |= (type)number / 1000 != in[i];                                                \
            out[i] = (uint32_t)number;                                                             \
        }                                                                                          \
        return others == 0;                                                                        \
    }
THOUSANDTHS(float_thousandths, float, 999.9995f)
THOUSANDTHS(double_thousandths, double, 999.9995)

#define WHOLE(name, type)                                                                          \
    static bool name(uint32_t *restrict out, const type *restrict in, uint32_t n)                  \
    {                                                                                              \
        uint32_t negative = 0;                                                                     \
        for (uint32_t i = 0; i < n; i++) {                                                         \
            negative |= in[i] < (type)0;                                                           \
            out[i] = (uint32_t)in[i];                                                              \
        }                                                                                          \
        return negative == 0;                                                                      \
    }
WHOLE(whole_i8, int8_t)
WHOLE(whole_i16, int16_t)
WHOLE(whole_i32, int32_t)

static enum ahead_form read_column(uint32_t *out, enum type type, const void *values,
                                   uint32_t first, uint32_t n)
{
    switch (type) {
    case TYPE_FLOAT:
        return float_thousandths(out, (const float *)values + first, n) ? AHEAD_THOUSANDTHS
                                                                        : AHEAD_NOT;
    case TYPE_DOUBLE:
        return double_thousandths(out, (const double *)values + first, n) ? AHEAD_THOUSANDTHS
                                                                          : AHEAD_NOT;
    case TYPE_TINYINT:
        return whole_i8(out, (const int8_t *)values + first, n) ? AHEAD_WHOLE : AHEAD_NOT;
    case TYPE_SMALLINT:
        return whole_i16(out, (const int16_t *)values + first, n) ? AHEAD_WHOLE : AHEAD_NOT;
    case TYPE_INT:
        return whole_i32(out, (const int32_t *)values + first, n) ? AHEAD_WHOLE : AHEAD_NOT;
    default:
        return AHEAD_NOT;
    }
}

void read_ahead(struct ahead *ahead, const struct batch *batch)
{
    const uint32_t most = AHEAD_COLUMNS, left = batch->rows - ahead->end;
    const uint32_t n = left < AHEAD_ROWS ? left : AHEAD_ROWS;
    ahead->first = ahead->end;
    ahead->end += n;
    ahead->count = batch->column_count < most ? batch->column_count : most;
    for (uint32_t i = 0; i < ahead->count; i++) {
        const struct column *column = &batch->schema->columns[batch->first_column + i];
        const struct column_data *data = &batch->columns[batch->first_column + i];
        ahead->forms[i] = (uint8_t)(data->nulls ? AHEAD_NOT
                                                : read_column(ahead->numbers[i], column->type,
                                                              data->values, ahead->first, n));
    }
}
