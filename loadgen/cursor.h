/* Which rows of which tables a worker's next request carries. */
#ifndef SCALE_CURSOR_H
#define SCALE_CURSOR_H

#include "batch.h"
#include "placement.h"

struct cursor {
    const struct share *share;
    uint64_t *next_row;       /* per table of the share */
    uint64_t rows_each;       /* UINT64_MAX: no end */
    uint64_t tables_with_one; /* so many first tables have one row more */
    uint32_t rows_per_request, rows_per_slice, slices_max;
    uint32_t requests_per_table; /* above 1: a request carries one table */
    uint32_t at, last_at,
        requests_here; /* requests_here: successive requests of the table at last_at */
    bool progressive;
};

int cursor_init(struct cursor *cursor, const struct spec *spec, const struct share *share);
void cursor_free(struct cursor *cursor);

bool cursor_next(struct cursor *cursor, struct batch *batch);

/* The highest number of a row before the next ones; 0: none. */
uint64_t cursor_newest(const struct cursor *cursor);

void cursor_take_back(struct cursor *cursor, const struct batch *batch);

#endif
