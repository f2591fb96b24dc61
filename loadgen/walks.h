/* The walks of a worker's tables, kept between requests: for each table and column the current
 * block, so that a row costs a few steps. */
#ifndef SCALE_WALKS_H
#define SCALE_WALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most memory of all workers of a load; with more, nothing is kept. */
enum { WALKS_BYTES_MAX = 256 << 20 };

struct walks {
    uint32_t tables, columns;
    uint32_t used;     /* number of places in use; a table gets the next one at its first row */
    uint32_t *place;   /* by table: its place + 1, or 0 */
    uint64_t *hash;    /* by place: of the table */
    uint32_t *block;   /* by place: the number of its block + 1, or 0 */
    uint32_t *lines;   /* by column, by part, by place */
};

/* The parts of a block, as in struct walk_line. */
enum { PART_ORIGIN, PART_STEP, PART_NOISE_A, PART_NOISE_B, PART_COUNT };

/* Returns 0, or -1 if out of memory. Keeps nothing if that would take too much. */
int walks_init(struct walks *walks, uint64_t tables, uint32_t columns);
void walks_free(struct walks *walks);

static inline bool walks_are_kept(const struct walks *w)
{
    return w->place != NULL;
}

/* Returns one part of a column's blocks, by place. */
static inline uint32_t *walks_part(const struct walks *w, uint32_t column, uint32_t part)
{
    return w->lines + ((size_t)column * PART_COUNT + part) * w->tables;
}

/* Gives a table a place; `hash` is the table's. */
uint32_t walks_take_place(struct walks *walks, uint32_t table, uint64_t hash);

/* Makes the blocks of all columns that hold `row` of the table in that place. */
void walks_enter_block(struct walks *walks, uint32_t place, uint32_t row);

#endif
