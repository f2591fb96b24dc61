/* Values of any type of numbers as doubles, for forms that have no other number. */
#ifndef SCALE_DOUBLES_H
#define SCALE_DOUBLES_H

#include "../schema.h"

/* Values first .. first + n - 1 of a column. A float becomes the double of the decimal that
 * numbers.h writes for it, not its own bits: 10.1, and not 10.1000003814697266. So forms of text
 * and of doubles store the same number. A boolean is 0 or 1. Of whole numbers at most 53 bits are
 * kept. */
void doubles_read(double *out, enum type type, const void *values, uint32_t first, uint32_t n);

#endif
