/* What the null driver writes to its dump: each row, and each query with its parameters, as a line
 * of text. */
#ifndef SCALE_NULL_DUMP_H
#define SCALE_NULL_DUMP_H

#include <stdio.h>

#include "driver.h"

/* Row `i` of the slice. */
void null_dump_row(FILE *file, const struct batch *batch, const struct slice *slice, uint32_t i);
void null_dump_ask(FILE *file, uint32_t operation, const struct parameter *parameters,
                   uint32_t count);

#endif
