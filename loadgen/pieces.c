/* See pieces.h. */
#include "pieces.h"

#include "chance.h"
#include "walk.h"

static uint32_t least(uint64_t a, uint64_t b)
{
    return (uint32_t)(a < b ? a : b);
}

static inline bool is_single(const struct slice *slice)
{
    return slice->rows == 1 && slice->first_row <= UINT32_MAX;
}

static uint32_t place_of(const struct maker *m, struct walks *w, uint32_t table)
{
    const uint32_t known = w->place[table];
    return known ? known - 1 : walks_take_place(w, table, chance_of(m->seed_hash, table));
}

/* Returns how many rows of successive places are ready; makes the blocks of places without a row,
 * from `unused` on. */
static uint32_t enter_blocks(struct walks *w, uint32_t place, const uint32_t *rows, uint32_t n,
                             uint32_t unused)
{
    const uint32_t *const block = w->block + place;
    uint32_t change = 0;
    for (uint32_t i = 0; i < n; i++)
        change |= block[i] ^ ((rows[i] >> BLOCK_SHIFT) + 1);
    for (uint32_t i = 0; change && i < n; i++)
        if (block[i] != (rows[i] >> BLOCK_SHIFT) + 1) {
            if (place + i < unused)
                return i;
            walks_enter_block(w, place + i, rows[i]);
        }
    return n;
}

/* Slices of one row each, whose walks are kept, up to a table at its next block; returns their
 * number. */
static uint32_t take_singles(struct maker *m, const struct slice *slices, uint32_t most)
{
    struct walks *const w = &m->walks;
    const uint32_t *const places = w->place;
    uint32_t count = 0, unused = 0;
    m->run_count = 0;
    while (count < most && is_single(&slices[count])) {
        const uint32_t place = place_of(m, w, slices[count].table), begun = count;
        uint32_t next = place + 1; /* as `places` has it */
        do {
            m->low_rows[count] = (uint32_t)slices[count].first_row;
            count++, next++;
        } while (count < most && is_single(&slices[count]) && places[slices[count].table] == next);
        const uint32_t n = count - begun;
        const uint32_t ready = enter_blocks(w, place, m->low_rows + begun, n, unused);
        if (ready)
            m->runs[m->run_count++] = (struct run){place, ready};
        if (ready < n)
            return begun + ready;
        unused = unused > place + n ? unused : place + n;
    }
    return count;
}

static void fill_pieces(struct maker *m)
{
    uint32_t p = 0;
    for (const struct run *run = m->runs; run < m->runs + m->run_count; run++)
        for (uint32_t i = 0; i < run->rows; i++, p++) {
            m->pieces[p] = (struct piece){m->walks.hash[run->place + i], m->low_rows[p], 1};
            m->first_rows[p] = m->low_rows[p];
        }
}

static uint32_t cut_pieces(struct maker *m, const struct batch *batch, uint32_t *slice,
                           uint32_t *done, uint32_t *rows)
{
    uint32_t count = 0;
    *rows = 0;
    while (*slice < batch->slice_count && *rows < VALUES_CHUNK) {
        const struct slice *s = &batch->slices[*slice];
        const uint64_t row = s->first_row + *done, high = row >> 32;
        const uint64_t to_edge = 0x100000000u - (row & 0xffffffffu);
        const uint32_t n = least(least(s->rows - *done, VALUES_CHUNK - *rows), to_edge);
        const uint64_t hash = chance_of(m->seed_hash, s->table);
        m->pieces[count] = (struct piece){high ? chance_of(hash, high) : hash, (uint32_t)row, n};
        m->first_rows[count++] = row;
        *rows += n;
        *done += n;
        if (*done == s->rows) {
            ++*slice;
            *done = 0;
        }
    }
    return count;
}

/* Where rows take places of others: each run of successive places is a piece. */
static uint32_t cut_places(struct maker *m, const struct batch *batch, uint32_t *slice,
                           uint32_t *done, uint32_t *rows)
{
    uint32_t count = 0;
    *rows = 0;
    while (*slice < batch->slice_count && *rows < VALUES_CHUNK) {
        const struct slice *s = &batch->slices[*slice];
        const uint64_t hash = chance_of(m->seed_hash, s->table);
        uint64_t next = UINT64_MAX; /* the place that would lengthen the piece */
        for (; *done < s->rows && *rows < VALUES_CHUNK; ++*done, ++*rows) {
            const uint64_t place = disorder_place(&m->disorder, hash, s->first_row + *done);
            const uint64_t high = place >> 32;
            if (place == next && (uint32_t)place != 0) {
                m->pieces[count - 1].rows++;
            } else {
                m->pieces[count] =
                    (struct piece){high ? chance_of(hash, high) : hash, (uint32_t)place, 1};
                m->first_rows[count++] = place;
            }
            next = place + 1;
        }
        if (*done == s->rows) {
            ++*slice;
            *done = 0;
        }
    }
    return count;
}

uint32_t pieces_take(struct maker *m, const struct batch *batch, uint32_t *slice, uint32_t *done,
                     uint32_t *rows)
{
    m->run_count = 0;
    if (m->disorder.is_placed)
        return cut_places(m, batch, slice, done, rows);
    if (walks_are_kept(&m->walks) && *done == 0)
        *rows = take_singles(m, batch->slices + *slice,
                             least(batch->slice_count - *slice, VALUES_CHUNK));
    if (m->run_count == 0)
        return cut_pieces(m, batch, slice, done, rows);
    if (m->needs_pieces)
        fill_pieces(m);
    *slice += *rows;
    return *rows;
}
