/* Values of any type of numbers as doubles, for forms that have no other number. */
#ifndef SCALE_DOUBLES_H
#define SCALE_DOUBLES_H

#include "../schema.h"

/* Values first .. first + n - 1 of a column. A float becomes the double of its decimal in
 * numbers.h, so that texts and doubles store the same number; a boolean 0 or 1; of whole numbers at
 * most 53 bits are kept. */
void doubles_read(double *out, enum type type, const void *values, uint32_t first, uint32_t n);

#endif
