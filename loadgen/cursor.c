/* See cursor.h. */
#include "cursor.h"

#include <stdlib.h>

#include "first_row.h"

int cursor_init(struct cursor *cursor, const struct spec *spec, const struct share *share)
{
    const uint64_t per_slice = spec->interlace_rows ? spec->interlace_rows : spec->rows_per_request;
    *cursor = (struct cursor){
        .share = share,
        .next_row = calloc(share->count + 1, sizeof *cursor->next_row),
        .rows_each = spec->rows ? spec->rows_present + spec->rows / spec->tables : UINT64_MAX,
        .tables_with_one = spec->rows ? spec->rows % spec->tables : 0,
        .rows_per_request = (uint32_t)spec->rows_per_request,
        .rows_per_slice = (uint32_t)per_slice,
        .slices_max = (uint32_t)(spec->rows_per_request / per_slice),
        .requests_per_table = (uint32_t)spec->requests_per_table,
        .progressive = spec->order == ORDER_PROGRESSIVE,
    };
    if (!cursor->next_row)
        return -1;
    first_row_fill(spec, share, cursor->next_row); /* after the rows that exist already */
    return 0;
}

void cursor_free(struct cursor *cursor)
{
    free(cursor->next_row);
}

static uint64_t rows_left(const struct cursor *cursor, uint32_t at)
{
    const bool has_one = cursor->share->tables[at] < cursor->tables_with_one;
    return cursor->rows_each + has_one - cursor->next_row[at];
}

/* From `at` on; returns how many rows a slice takes, 0: none are left. */
static uint32_t seek(const struct cursor *cursor, uint32_t *at)
{
    for (uint32_t tried = 0; tried < cursor->share->count; tried++) {
        const uint64_t left = rows_left(cursor, *at);
        if (left > 0)
            return left < cursor->rows_per_slice ? (uint32_t)left : cursor->rows_per_slice;
        *at = *at + 1 < cursor->share->count ? *at + 1 : 0;
    }
    return 0;
}

static void leave_served(struct cursor *cursor)
{
    cursor->requests_here = cursor->at == cursor->last_at ? cursor->requests_here + 1 : 1;
    cursor->last_at = cursor->at;
    if (cursor->requests_here < cursor->requests_per_table)
        return;
    cursor->requests_here = 0;
    cursor->at = cursor->at + 1 < cursor->share->count ? cursor->at + 1 : 0;
}

bool cursor_next(struct cursor *cursor, struct batch *batch)
{
    const uint32_t *const tables = cursor->share->tables;
    const uint32_t tables_count = cursor->share->count;
    const uint32_t slices_max = tables_count ? cursor->slices_max : 0;
    const uint32_t per_slice = cursor->rows_per_slice;
    const uint32_t turn = cursor->progressive || cursor->requests_per_table > 1 ? 0 : 1;
    /* below it each table has a whole slice left */
    const uint64_t plenty = cursor->rows_each < per_slice ? 0 : cursor->rows_each - per_slice;
    uint64_t *const next_row = cursor->next_row;
    struct slice *const slices = batch->slices;
    uint32_t at = cursor->at, offset = 0, count = 0;
    for (; count < slices_max; count++) {
        uint32_t rows = per_slice;
        if (next_row[at] >= plenty && (rows = seek(cursor, &at)) == 0)
            break;
        slices[count] = (struct slice){tables[at], rows, offset, next_row[at]};
        offset += rows;
        next_row[at] += rows;
        at += turn;
        at = at < tables_count ? at : 0;
    }
    cursor->at = at;
    if (cursor->requests_per_table > 1 && count > 0)
        leave_served(cursor);
    batch->rows = offset;
    batch->slice_count = count;
    return offset > 0;
}

uint64_t cursor_newest(const struct cursor *cursor)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < cursor->share->count; i++)
        most = cursor->next_row[i] > most ? cursor->next_row[i] : most;
    return most ? most - 1 : 0;
}

void cursor_take_back(struct cursor *cursor, const struct batch *batch)
{
    uint32_t at = 0; /* the others follow each other as in the share */
    for (uint32_t i = 0; i < batch->slice_count; i++) {
        while (cursor->share->tables[at] != batch->slices[i].table)
            at = at + 1 < cursor->share->count ? at + 1 : 0;
        cursor->next_row[at] -= batch->slices[i].rows;
    }
}
