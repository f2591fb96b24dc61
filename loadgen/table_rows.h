/* Which rows a load has written: a table has its rows from 0 on, so a number is enough. */
#ifndef SCALE_TABLE_ROWS_H
#define SCALE_TABLE_ROWS_H

#include "json.h"
#include "totals.h"

/* "table_rows":[[first table, tables, rows of each],..] of this process, or null if a request was
 * not acknowledged. */
void table_rows_put(struct json *json, const struct load *load, const struct worker *workers,
                    const struct totals *totals);

#endif
