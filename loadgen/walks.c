/* See walks.h. */
#include "walks.h"

#include <stdlib.h>

#include "walk.h"

int walks_init(struct walks *w, uint64_t tables, uint32_t columns)
{
    const uint64_t lines = tables * columns * PART_COUNT;
    *w = (struct walks){.tables = (uint32_t)tables, .columns = columns};
    if (tables > UINT32_MAX || lines * sizeof *w->lines > WALKS_BYTES_MAX)
        return 0;
    /* only memory of tables with a place is touched: the worker's own */
    w->place = calloc(tables, sizeof *w->place);
    w->hash = calloc(tables, sizeof *w->hash);
    w->block = calloc(tables, sizeof *w->block);
    w->lines = calloc(lines, sizeof *w->lines);
    return w->place && w->hash && w->block && w->lines ? 0 : -1;
}

void walks_free(struct walks *w)
{
    free(w->place);
    free(w->hash);
    free(w->block);
    free(w->lines);
}

uint32_t walks_take_place(struct walks *w, uint32_t table, uint64_t hash)
{
    const uint32_t place = w->used++;
    w->place[table] = place + 1;
    w->hash[place] = hash;
    return place;
}

void walks_enter_block(struct walks *w, uint32_t place, uint32_t row)
{
    for (uint32_t c = 0; c < w->columns; c++) {
        const struct walk_line line = walk_line(chance_of(w->hash[place], c), row);
        walks_part(w, c, PART_ORIGIN)[place] = line.origin;
        walks_part(w, c, PART_STEP)[place] = line.step;
        walks_part(w, c, PART_NOISE_A)[place] = line.noise.a;
        walks_part(w, c, PART_NOISE_B)[place] = line.noise.b;
    }
    w->block[place] = (row >> BLOCK_SHIFT) + 1;
}
