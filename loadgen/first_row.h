/* Where writing begins in each table: the key `first_row`, to continue after an earlier load: one
 * row for all, or runs as `table_rows` of a summary: FIRST_TABLE:TABLES:ROW,... */
#ifndef SCALE_FIRST_ROW_H
#define SCALE_FIRST_ROW_H

#include "mistakes.h"
#include "placement.h"

/* Adds a mistake for a text that is neither, or whose runs are not all tables in order. */
void first_row_check(const struct spec *spec, struct mistakes *mistakes);

/* Sets the first row of each table of the share; the text is right. */
void first_row_fill(const struct spec *spec, const struct share *share, uint64_t *rows);

#endif
