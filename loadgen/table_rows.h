/* Which rows of which tables a load has written, in its summary: a table has its rows from 0 on, so
 * that their number says it. From it others make the same rows again. */
#ifndef SCALE_TABLE_ROWS_H
#define SCALE_TABLE_ROWS_H

#include "json.h"
#include "totals.h"

/* "table_rows":[[first table, tables, rows of each],..] of the tables that this process writes,
 * or null where a request was not acknowledged, so that it is not known which rows are there. */
void table_rows_put(struct json *json, const struct load *load, const struct worker *workers,
                    const struct totals *totals);

#endif
