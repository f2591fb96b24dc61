/* Filling a batch with rows; see values.h. A walk is value noise: at the ends of each block of
 * 128 rows its height is the sum of four octaves of hashed knots, and between the ends it is
 * straight with a little noise, so any row costs the same and all of it runs in vectors. */
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"

enum {
    BLOCK_SHIFT = 7,
    BLOCK_ROWS = 1 << BLOCK_SHIFT,
    OCTAVES = 4,
    STREAM_LOW = 1 << 16, /* numbers of the further streams of a column */
    STREAM_NULL = 2 << 16,
    STREAM_TIME = 3 << 16,
};

/* Weights of the octaves in 1/256: together with the noise they stay below 1. */
static const uint32_t weights[OCTAVES] = {24, 48, 70, 104};

int values_init(struct maker *maker, const struct spec *spec, const struct schema *schema)
{
    const int64_t units = spec_units_per_ms(spec);
    maker->spec = spec;
    maker->schema = schema;
    maker->kernels = kernels_pick();
    maker->start = (int64_t)spec->start_ms * units;
    maker->step = llround(spec->step_ms * (double)units);
    maker->null_threshold = (uint32_t)(spec->null_ratio * 4294967295.0);
    /* A pair of rows changes places, and one of the two comes late. */
    maker->disorder_threshold = (uint32_t)(fmin(spec->disorder_ratio / 50, 1) * 4294967295.0);
    maker->disorder_mask = 1;
    while ((double)(maker->disorder_mask * 2 + 1) * spec->step_ms <=
           (double)spec->disorder_range_ms)
        maker->disorder_mask = maker->disorder_mask * 2 + 1;
    maker->scalings = calloc(schema->column_count, sizeof *maker->scalings);
    if (!maker->scalings)
        return -1;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const struct column *c = &schema->columns[i];
        struct scaling *s = &maker->scalings[i];
        const double steps = spec->values == VALUES_RANDOM ? 0 : c->steps;
        *s = (struct scaling){c->low, c->span, steps, c->low * c->steps};
    }
    return 0;
}

void values_free(struct maker *maker)
{
    free(maker->scalings);
}

/* Height of a walk at the start of a block, 0 .. 0.96 in units of 2^-31. */
static int32_t walk_height(uint64_t key, uint64_t block)
{
    uint64_t sum = 0;
    for (uint32_t octave = 0; octave < OCTAVES; octave++) {
        const uint32_t shift = octave * 3;
        const uint64_t knot = block >> shift, part = block & ((1u << shift) - 1);
        const int64_t a = (int64_t)(chance_mix(key ^ (knot * OCTAVES + octave)) >> 33);
        const int64_t b = (int64_t)(chance_mix(key ^ ((knot + 1) * OCTAVES + octave)) >> 33);
        const int64_t height = a + (((b - a) * (int64_t)part) >> shift);
        sum += (uint64_t)height * weights[octave];
    }
    return (int32_t)(sum >> 8);
}

static void walk_levels(const struct kernels *k, uint64_t key, uint64_t row, uint32_t n,
                        uint32_t *level)
{
    uint64_t block = row >> BLOCK_SHIFT;
    int32_t here = walk_height(key, block);
    for (uint32_t done = 0; done < n; block++) {
        const int32_t next = walk_height(key, block + 1);
        const int32_t step = (next - here) / BLOCK_ROWS;
        const uint32_t skip = (uint32_t)((row + done) & (BLOCK_ROWS - 1));
        const uint32_t left = BLOCK_ROWS - skip, part = left < n - done ? left : n - done;
        k->level_ramp(level + done, part, (uint32_t)row + done, chance_key(key),
                      here + step * (int32_t)skip, step);
        done += part;
        here = next;
    }
}

/* Levels of rows row..row+n-1 of one stream. The rows do not cross a multiple of 2^32. */
static void make_levels(const struct maker *m, uint64_t stream_key, uint64_t row, uint32_t n,
                        enum values mode, uint32_t *level)
{
    const uint64_t high = row >> 32;
    const uint64_t key = high ? chance_mix(stream_key + high) : stream_key;
    switch (mode) {
    case VALUES_WALK:
        walk_levels(m->kernels, key, row, n, level);
        break;
    case VALUES_RANDOM:
        m->kernels->level_uniform(level, n, (uint32_t)row, chance_key(key));
        break;
    case VALUES_CONSTANT:
        m->kernels->level_fill(level, n, 0x80000000u);
        break;
    }
}

static void make_text(struct maker *m, const struct column *column, struct column_data *data,
                      uint64_t key, uint64_t row, uint32_t offset, uint32_t n)
{
    const bool random = m->spec->text_mode == TEXT_RANDOM;
    const bool constant = m->spec->values == VALUES_CONSTANT;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t *out = (uint8_t *)data->values + (size_t)(offset + i) * column->width;
        const uint64_t hash = chance_mix(constant ? m->spec->seed : key ^ (row + i));
        uint32_t length = column->width;
        if (column->type == TYPE_GEOMETRY) { /* a point: byte order, kind, x, y */
            const double xy[2] = {(double)(hash >> 40) / 16777216.0 * 360 - 180,
                                  (double)(hash & 0xffffff) / 16777216.0 * 180 - 90};
            memcpy(out, "\1\1\0\0\0", 5);
            memcpy(out + 5, xy, sizeof xy);
            length = 5 + sizeof xy;
        } else if (random) {
            const uint32_t whole = length / 4 * 4;
            uint8_t tail[4];
            m->kernels->words(out, length / 4, chance_key(hash));
            m->kernels->words(tail, 1, chance_key(~hash));
            memcpy(out + whole, tail, length - whole);
            if (column->type != TYPE_VARBINARY)
                m->kernels->plain_text(out, length);
        } else {
            length = text_vocabulary(out, length, hash);
        }
        data->lengths[offset + i] = (int32_t)length;
    }
}

static void convert(struct maker *m, uint32_t index, void *out, const int64_t *times, uint32_t n)
{
    const struct kernels *k = m->kernels;
    const struct scaling *s = &m->scalings[index];
    switch (m->schema->columns[index].type) {
    case TYPE_BOOL:
        k->to_bool(out, m->level, n);
        break;
    case TYPE_TINYINT:
    case TYPE_UTINYINT:
        k->to_8(out, m->level, n, s);
        break;
    case TYPE_SMALLINT:
    case TYPE_USMALLINT:
        k->to_16(out, m->level, n, s);
        break;
    case TYPE_INT:
    case TYPE_UINT:
        k->to_32(out, m->level, n, s);
        break;
    case TYPE_BIGINT:
    case TYPE_UBIGINT:
        k->to_64(out, m->level, n, s);
        break;
    case TYPE_FLOAT:
        k->to_float(out, m->level, n, s);
        break;
    case TYPE_DOUBLE:
        if (m->spec->values == VALUES_RANDOM)
            k->to_double_full(out, m->level, m->level_low, n, s);
        else
            k->to_double(out, m->level, n, s);
        break;
    default: /* a timestamp: that of the row and up to a thousand units more */
        k->add_level(out, times, m->level, n, 22);
        break;
    }
}

/* Rows row..row+n-1 of one column, at most VALUES_CHUNK of them. */
static void make_column(struct maker *m, struct batch *batch, uint32_t index, uint32_t table,
                        uint64_t row, uint32_t offset, uint32_t n)
{
    const struct column *column = &m->schema->columns[index];
    struct column_data *data = &batch->columns[index];
    const enum values mode = (enum values)m->spec->values;
    const uint64_t seed = m->spec->seed, key = chance_of(seed, table, index);
    if (type_is_text(column->type)) {
        make_text(m, column, data, key, row, offset, n);
    } else {
        make_levels(m, key, row, n, mode, m->level);
        if (column->type == TYPE_DOUBLE && mode == VALUES_RANDOM)
            make_levels(m, chance_of(seed, table, index + STREAM_LOW), row, n, mode,
                        m->level_low);
        convert(m, index, (char *)data->values + (size_t)offset * column->width,
                batch->times + offset, n);
    }
    if (data->nulls) {
        make_levels(m, chance_of(seed, table, index + STREAM_NULL), row, n, VALUES_RANDOM,
                    m->level);
        m->kernels->nulls(data->nulls + offset, m->level, n, m->null_threshold);
    }
}

/* Some rows change timestamps in pairs: out of order, and still no two rows have the same.
 * A row's partner differs in the bits that its block has drawn, so a partner's partner is the
 * row itself. */
static void make_disorder(const struct maker *m, uint32_t table, uint64_t row, int64_t *times,
                          uint32_t n)
{
    const uint64_t key = chance_of(m->spec->seed, table, STREAM_TIME);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t here = row + i, block = here & ~m->disorder_mask;
        const uint64_t bits = (chance_mix(key ^ block) & m->disorder_mask) | 1;
        const uint64_t partner = here ^ bits, first = partner < here ? partner : here;
        if ((uint32_t)chance_mix(~key ^ first) < m->disorder_threshold)
            times[i] = m->start + m->step * (int64_t)partner;
    }
}

void values_make(struct maker *m, struct batch *batch)
{
    for (uint32_t s = 0; s < batch->slice_count; s++) {
        const struct slice *slice = &batch->slices[s];
        for (uint32_t done = 0; done < slice->rows;) {
            const uint64_t row = slice->first_row + done;
            const uint64_t to_edge = 0x100000000u - (row & 0xffffffffu);
            uint32_t n = slice->rows - done, offset = slice->offset + done;
            n = n < VALUES_CHUNK ? n : VALUES_CHUNK;
            n = n < to_edge ? n : (uint32_t)to_edge;
            m->kernels->times(batch->times + offset, n, m->start + m->step * (int64_t)row,
                              m->step);
            if (m->spec->disorder_ratio > 0)
                make_disorder(m, slice->table, row, batch->times + offset, n);
            for (uint32_t c = 0; c < batch->column_count; c++)
                make_column(m, batch, batch->first_column + c, slice->table, row, offset, n);
            done += n;
        }
    }
}
