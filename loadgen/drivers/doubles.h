/* Numbers of any type as doubles. */
#ifndef SCALE_DOUBLES_H
#define SCALE_DOUBLES_H

#include "../schema.h"

/* A float becomes the double of its decimal in numbers.h, so that texts and doubles store the same
 * number; of whole numbers at most 53 bits are kept. */
void doubles_read(double *out, enum type type, const void *values, uint32_t first, uint32_t n);

#endif
