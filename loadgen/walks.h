/* The walks of a worker's tables: for each table and column the current block, so that a row costs
 * a few steps. */
#ifndef SCALE_WALKS_H
#define SCALE_WALKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory of all workers of a load; with more, nothing is kept. */
enum { WALKS_BYTES_MAX = 256 << 20 };

struct walks {
    uint32_t tables, columns;
    uint32_t used;     /* a table gets the next place at its first row */
    uint32_t *place;   /* by table: its place + 1, or 0 */
    uint64_t *hash;    /* by place: of the table */
    uint32_t *block;   /* by place: its block + 1, or 0 */
    uint32_t *lines;   /* by column, by part, by place */
};

/* As in struct walk_line. */
enum { PART_ORIGIN, PART_STEP, PART_NOISE_A, PART_NOISE_B, PART_COUNT };

/* -1 if out of memory. Keeps nothing if that would take too much. */
int walks_init(struct walks *walks, uint64_t tables, uint32_t columns);
void walks_free(struct walks *walks);

static inline bool walks_are_kept(const struct walks *w)
{
    return w->place != NULL;
}

/* By place. */
static inline uint32_t *walks_part(const struct walks *w, uint32_t column, uint32_t part)
{
    return w->lines + ((size_t)column * PART_COUNT + part) * w->tables;
}

uint32_t walks_take_place(struct walks *walks, uint32_t table, uint64_t hash);

/* That hold `row` of the table in that place. */
void walks_enter_block(struct walks *walks, uint32_t place, uint32_t row);

#endif
