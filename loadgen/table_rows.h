/* Which rows of which tables a load has written, in its summary. A table has its rows from 0 on,
 * so a number is enough, from which others make the same rows. */
#ifndef SCALE_TABLE_ROWS_H
#define SCALE_TABLE_ROWS_H

#include "json.h"
#include "totals.h"

/* Writes "table_rows":[[first table, tables, rows of each],..] of the tables that this process
 * writes, or null if a request was not acknowledged, because then it is not known which rows
 * exist. */
void table_rows_put(struct json *json, const struct load *load, const struct worker *workers,
                    const struct totals *totals);

#endif
