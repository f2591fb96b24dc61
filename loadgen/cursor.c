/* What the next request carries; see cursor.h. */
#include "cursor.h"

#include <stdlib.h>

int cursor_init(struct cursor *cursor, const struct spec *spec, const struct share *share)
{
    const uint64_t per_slice = spec->interlace_rows ? spec->interlace_rows
                                                    : spec->rows_per_request;
    *cursor = (struct cursor){
        .share = share,
        .next_row = calloc(share->count + 1, sizeof *cursor->next_row),
        .rows_each = spec->rows ? spec->rows / spec->tables : UINT64_MAX,
        .tables_with_one = spec->rows ? spec->rows % spec->tables : 0,
        .rows_per_request = (uint32_t)spec->rows_per_request,
        .rows_per_slice = (uint32_t)per_slice,
        .slices_max = (uint32_t)(spec->rows_per_request / per_slice),
        .progressive = spec->order == ORDER_PROGRESSIVE,
    };
    return cursor->next_row ? 0 : -1;
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

/* The place of the next table that has rows left; false when there is none. */
static bool seek(struct cursor *cursor)
{
    for (uint32_t tried = 0; tried < cursor->share->count; tried++) {
        if (rows_left(cursor, cursor->at) > 0)
            return true;
        cursor->at = cursor->at + 1 < cursor->share->count ? cursor->at + 1 : 0;
    }
    return false;
}

bool cursor_next(struct cursor *cursor, struct batch *batch)
{
    batch->rows = 0;
    batch->slice_count = 0;
    while (batch->slice_count < cursor->slices_max && seek(cursor)) {
        const uint32_t at = cursor->at;
        const uint64_t left = rows_left(cursor, at);
        const uint32_t rows =
            left < cursor->rows_per_slice ? (uint32_t)left : cursor->rows_per_slice;
        batch->slices[batch->slice_count++] = (struct slice){
            .table = cursor->share->tables[at],
            .rows = rows,
            .offset = batch->rows,
            .first_row = cursor->next_row[at],
        };
        batch->rows += rows;
        cursor->next_row[at] += rows;
        if (!cursor->progressive)
            cursor->at = at + 1 < cursor->share->count ? at + 1 : 0;
    }
    return batch->rows > 0;
}
