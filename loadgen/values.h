/* Fills a batch. A row is a pure function of (seed, table, row). Nothing is allocated after
 * values_init. */
#ifndef SCALE_VALUES_H
#define SCALE_VALUES_H

#include "batch.h"
#include "disorder.h"
#include "kernels.h"
#include "spec.h"
#include "walks.h"

enum { VALUES_CHUNK = 512 }; /* the scratch stays in the first cache */

struct maker { /* one per worker */
    const struct spec *spec;
    const struct schema *schema;
    const struct kernels *kernels;
    struct scaling *scalings; /* one per column */
    int64_t start, step;      /* in units of the precision */
    struct disorder disorder;
    uint64_t disorder_mask; /* swaps: rows within which timestamps change places, less one */
    uint32_t disorder_threshold;
    uint32_t null_threshold;
    uint64_t seed_hash;
    struct walks walks; /* for requests whose tables have one row each */
    bool needs_pieces; /* a column is no walk: pieces are needed for those requests too */
    struct piece pieces[VALUES_CHUNK]; /* pieces of the current rows */
    uint64_t first_rows[VALUES_CHUNK]; /* the same rows with their full numbers */
    uint32_t run_count; /* 0: no walks are kept for the current rows */
    struct run {
        uint32_t place, rows; /* walks lie one after another */
    } runs[VALUES_CHUNK];
    _Alignas(64) uint32_t low_rows[VALUES_CHUNK];
    _Alignas(64) uint32_t level[VALUES_CHUNK];
    _Alignas(64) uint32_t level_low[VALUES_CHUNK];
};

int values_init(struct maker *maker, const struct spec *spec, const struct schema *schema);
void values_free(struct maker *maker);

/* With a batch for `rows` rows of one table, for rows that are not sent. NULL: out of memory. */
struct maker *values_open(struct spec *spec, const struct schema *schema, uint32_t rows,
                          bool has_nulls, struct batch *batch);
void values_close(struct maker *maker, struct batch *batch);

void values_make(struct maker *maker, struct batch *batch);

/* From a hash; returns the bytes used. */
uint32_t text_vocabulary(uint8_t *out, uint32_t width, uint64_t hash);

/* Each character has three bytes of UTF-8. */
uint32_t text_chinese(uint8_t *out, uint32_t width, uint64_t hash);

#endif
