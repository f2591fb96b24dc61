/* See values.h. Some hundreds of rows are made at a time, by column. */
#include "values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "laws.h"
#include "pieces.h"
#include "sample_file.h"

enum { /* streams of a table, beyond its columns' */
       STREAM_LOW = 1 << 16,
       STREAM_NULL = 2 << 16,
       STREAM_TIME = 3 << 16,
};

int values_init(struct maker *maker, const struct spec *spec, const struct schema *schema)
{
    const int64_t units = spec_units_per_ms(spec);
    maker->spec = spec;
    maker->schema = schema;
    maker->kernels = kernels_pick();
    maker->start = (int64_t)spec->start_ms * units;
    maker->step = llround(spec->step_ms * (double)units);
    maker->seed_hash = chance_of(spec->seed, 0);
    maker->null_threshold = (uint32_t)(spec->null_ratio * 4294967295.0);
    disorder_init(&maker->disorder, spec);
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
        const double steps = c->law == LAW_RANDOM && !c->is_rounded ? 0 : c->steps;
        *s = (struct scaling){c->low, c->span, steps, c->low * c->steps};
    }
    bool has_walk = false;
    maker->needs_pieces = schema->sample || spec->null_ratio > 0 || spec->disorder_ratio > 0;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const bool is_walk = schema->columns[i].law == LAW_WALK;
        maker->needs_pieces |= type_is_text(schema->columns[i].type) || !is_walk;
        has_walk |= is_walk;
    }
    const bool is_single = spec->interlace_rows == 1 || spec->rows_per_request == 1;
    return is_single && has_walk && !schema->sample && !maker->disorder.is_placed
               ? walks_init(&maker->walks, spec->tables, schema->column_count)
               : 0;
}

void values_free(struct maker *maker)
{
    free(maker->scalings);
    walks_free(&maker->walks);
}

struct maker *values_open(struct spec *spec, const struct schema *schema, uint32_t rows,
                          bool has_nulls, struct batch *batch)
{
    struct maker *maker = aligned_alloc(_Alignof(struct maker), sizeof *maker);
    *batch = (struct batch){.rows = 0};
    spec->rows_per_request = rows; /* a row does not depend on its request */
    spec->interlace_rows = 0;
    if (maker)
        *maker = (struct maker){.spec = NULL};
    if (maker && values_init(maker, spec, schema) == 0 &&
        batch_init(batch, schema, rows, 1, 0, schema->column_count, has_nulls) == 0)
        return maker;
    values_close(maker, batch);
    return NULL;
}

void values_close(struct maker *maker, struct batch *batch)
{
    if (batch->schema)
        batch_free(batch);
    if (maker)
        values_free(maker);
    free(maker);
}

static void make_levels(const struct maker *m, enum law law, uint32_t stream, uint32_t rows,
                        uint32_t count, uint32_t *level)
{
    const struct kernels *k = m->kernels;
    if (law_is_periodic(law))
        laws_levels(law, (uint32_t)m->spec->period_rows, m->pieces, count, stream, level);
    else if (law == LAW_NORMAL)
        laws_normal(m->pieces, count, stream, level);
    else
        (law == LAW_WALK     ? k->level_walk
         : law == LAW_RANDOM ? k->level_uniform
                             : k->level_constant)(level, m->pieces, count, rows, stream);
}

static void make_kept_levels(struct maker *m, uint32_t column)
{
    uint32_t *level = m->level;
    const uint32_t *rows = m->low_rows;
    for (const struct run *run = m->runs; run < m->runs + m->run_count; run++) {
        const struct kept_walks kept = {
            .origin = walks_part(&m->walks, column, PART_ORIGIN) + run->place,
            .step = walks_part(&m->walks, column, PART_STEP) + run->place,
            .noise_a = walks_part(&m->walks, column, PART_NOISE_A) + run->place,
            .noise_b = walks_part(&m->walks, column, PART_NOISE_B) + run->place,
        };
        m->kernels->level_kept(level, run->rows, rows, &kept);
        level += run->rows;
        rows += run->rows;
    }
}

static uint32_t make_point(uint8_t *out, uint64_t hash) /* byte order, kind, x, y */
{
    const double xy[2] = {(double)(hash >> 40) / 16777216.0 * 360 - 180,
                          (double)(hash & 0xffffff) / 16777216.0 * 180 - 90};
    memcpy(out, "\1\1\0\0\0", 5);
    memcpy(out + 5, xy, sizeof xy);
    return 5 + sizeof xy;
}

static uint32_t make_random_text(const struct kernels *k, const struct column *column, uint8_t *out,
                                 uint64_t hash)
{
    const uint32_t length = column->width, whole = length / 4 * 4;
    uint8_t tail[4];
    k->words(out, length / 4, chance_key(hash));
    k->words(tail, 1, chance_key(~hash));
    memcpy(out + whole, tail, length - whole);
    if (column->type != TYPE_VARBINARY)
        k->plain_text(out, length);
    return length;
}

static uint32_t make_words(const struct maker *m, const struct column *column, uint8_t *out,
                           uint64_t hash)
{
    switch (m->spec->text_mode) {
    case TEXT_RANDOM:
        return make_random_text(m->kernels, column, out, hash);
    case TEXT_CHINESE:
        return text_chinese(out, column->width, hash);
    default:
        return text_vocabulary(out, column->width, hash);
    }
}

static void make_text(const struct maker *m, uint32_t index, struct column_data *data,
                      uint32_t offset, uint32_t count)
{
    const struct column *column = &m->schema->columns[index];
    const bool constant = column->law == LAW_CONSTANT;
    uint8_t *out = (uint8_t *)data->values + (size_t)offset * column->width;
    for (uint32_t p = 0; p < count; p++) {
        const uint64_t key = chance_of(m->pieces[p].hash, index);
        for (uint32_t i = 0; i < m->pieces[p].rows; i++, out += column->width) {
            const uint64_t hash = constant ? m->seed_hash : chance_of(key, m->pieces[p].row + i);
            data->lengths[offset++] =
                (int32_t)(column->type == TYPE_GEOMETRY ? make_point(out, hash)
                                                        : make_words(m, column, out, hash));
        }
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
        if (m->schema->columns[index].law == LAW_RANDOM && s->steps == 0)
            k->to_double_full(out, m->level, m->level_low, n, s);
        else
            k->to_double(out, m->level, n, s);
        break;
    default: /* the row's, and up to a thousand units more */
        k->add_level(out, times, m->level, n, 22);
        break;
    }
}

static void make_column(struct maker *m, struct batch *batch, uint32_t index, uint32_t offset,
                        uint32_t n, uint32_t count)
{
    const struct column *column = &m->schema->columns[index];
    struct column_data *data = &batch->columns[index];
    if (type_is_text(column->type)) {
        make_text(m, index, data, offset, count);
    } else {
        if (m->run_count && column->law == LAW_WALK)
            make_kept_levels(m, index);
        else
            make_levels(m, column->law, index, n, count, m->level);
        if (column->type == TYPE_DOUBLE && column->law == LAW_RANDOM)
            make_levels(m, column->law, STREAM_LOW + index, n, count, m->level_low);
        convert(m, index, (char *)data->values + (size_t)offset * column->width,
                batch->times + offset, n);
    }
    if (data->nulls) {
        make_levels(m, LAW_RANDOM, STREAM_NULL + index, n, count, m->level);
        m->kernels->nulls(data->nulls + offset, m->level, n, m->null_threshold);
    }
}

/* Pairs of rows change timestamps. A row's partner differs in the bits that its block has drawn, so
 * a partner's partner is the row. */
static void make_disorder(const struct maker *m, uint64_t table_hash, uint64_t row, int64_t *times,
                          uint32_t n)
{
    const uint64_t key = chance_of(table_hash, STREAM_TIME);
    for (uint32_t i = 0; i < n; i++) {
        const uint64_t here = row + i, block = here & ~m->disorder_mask;
        const uint64_t bits = (chance_of(key, block) & m->disorder_mask) | 1;
        const uint64_t partner = here ^ bits, first = partner < here ? partner : here;
        if ((uint32_t)chance_of(~key, first) < m->disorder_threshold)
            times[i] = m->start + m->step * (int64_t)partner;
    }
}

static void make_times(const struct maker *m, int64_t *times, uint32_t count)
{
    if (m->schema->sample && m->schema->sample->times) {
        for (uint32_t p = 0; p < count; times += m->pieces[p++].rows)
            sample_file_times(m->schema->sample, m->first_rows[p], m->pieces[p].rows, times);
        return;
    }
    if (m->run_count) {
        for (uint32_t p = 0; p < count; p++)
            times[p] = m->start + m->step * (int64_t)m->low_rows[p];
    } else {
        int64_t *out = times;
        for (uint32_t p = 0; p < count; out += m->pieces[p++].rows)
            m->kernels->times(out, m->pieces[p].rows,
                              m->start + m->step * (int64_t)m->first_rows[p], m->step);
    }
    if (m->spec->disorder_ratio > 0 && !m->disorder.is_placed)
        for (uint32_t p = 0; p < count; times += m->pieces[p++].rows)
            make_disorder(m, m->pieces[p].hash, m->first_rows[p], times, m->pieces[p].rows);
}

static void take_column(const struct maker *m, struct batch *batch, uint32_t index, uint32_t offset,
                        uint32_t count)
{
    for (uint32_t p = 0; p < count; offset += m->pieces[p++].rows)
        sample_file_column(m->schema, index, m->first_rows[p], m->pieces[p].rows,
                           &batch->columns[index], offset);
}

void values_make(struct maker *m, struct batch *batch)
{
    uint32_t slice = 0, done = 0, offset = 0, n;
    while (slice < batch->slice_count) {
        const uint32_t count = pieces_take(m, batch, &slice, &done, &n);
        make_times(m, batch->times + offset, count);
        for (uint32_t c = 0; c < batch->column_count; c++)
            if (m->schema->sample)
                take_column(m, batch, batch->first_column + c, offset, count);
            else
                make_column(m, batch, batch->first_column + c, offset, n, count);
        offset += n;
    }
}
