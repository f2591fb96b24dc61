/* The key `first_row`: where writing goes on after an earlier load: one row for all tables, or runs
 * as `table_rows` of a summary: FIRST_TABLE:TABLES:ROW,... */
#ifndef SCALE_FIRST_ROW_H
#define SCALE_FIRST_ROW_H

#include "mistakes.h"
#include "placement.h"

/* For neither, or runs that are not all tables in order. */
void first_row_check(const struct spec *spec, struct mistakes *mistakes);

void first_row_fill(const struct spec *spec, const struct share *share, uint64_t *rows);

#endif
