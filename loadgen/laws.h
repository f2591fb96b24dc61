/* The laws of values by row number, and which column has which: the key `values`. Line, sine and
 * square repeat; each series begins at its own place. Whole numbers only. */
#ifndef SCALE_LAWS_H
#define SCALE_LAWS_H

#include <stdint.h>

#include "kernels.h"
#include "mistakes.h"
#include "schema.h"

/* "walk", or "line:2,sine:1" with shares of the columns. Reports mistakes under `values`. */
void laws_read(const char *text, struct schema *schema, struct mistakes *mistakes);

static inline bool law_is_periodic(enum law law)
{
    return law == LAW_LINE || law == LAW_SINE || law == LAW_SQUARE;
}

void laws_levels(enum law law, uint32_t period, const struct piece *pieces, uint32_t count,
                 uint32_t stream, uint32_t *level);

/* From a normal distribution: each row by itself. */
void laws_normal(const struct piece *pieces, uint32_t count, uint32_t stream, uint32_t *level);

#endif
