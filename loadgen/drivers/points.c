/* Rows as points; see points.h. */
#include "points.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"
#include "cells.h"

enum { NAME_BYTES = 2 * NAME_MAX_BYTES, FRAME_BYTES = 64, TIME_BYTES = 24 };

struct point_name {
    char text[NAME_BYTES + FRAME_BYTES]; /* {"metric":"m_current","tags":{ */
    uint32_t length;
};

const struct column *points_lack(const struct schema *schema, uint32_t first, uint32_t count)
{
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        if (type_is_text(c->type) || c->type == TYPE_UBIGINT || c->type == TYPE_GEOMETRY)
            return c;
    return NULL;
}

static char *put_text(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

#define PUT(out, literal) put_text(out, literal, sizeof(literal) - 1)

/* What all of these databases take in a tag; "_" for nothing, since none takes an empty one. */
static char *put_tag_text(char *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        *out++ = isalnum((unsigned char)text[i]) || strchr("-_./", text[i]) ? text[i] : '_';
    if (length == 0)
        *out++ = '_';
    return out;
}

/* Of a tag's SQL literal the text without its quotes. */
static char *put_tag(char *out, const struct points *p, uint32_t tag, uint32_t table)
{
    const char *name = p->schema->tags[tag].name;
    char literal[TAG_TEXT_MAX];
    const char *text = literal;
    uint32_t length = tag_literal(p->spec, p->schema, tag, table, literal);
    if (length >= 2 && *text == '\'') {
        text++;
        length -= 2;
    }
    const bool is_json = p->form != POINTS_TELNET;
    out = is_json ? PUT(out, ",\"") : PUT(out, " ");
    out = put_tag_text(out, name, strlen(name));
    out = is_json ? PUT(out, "\":\"") : PUT(out, "=");
    out = put_tag_text(out, text, length);
    return is_json ? PUT(out, "\"") : out;
}

static char *put_device(char *out, const struct points *p, uint32_t table)
{
    if (p->form == POINTS_TELNET)
        return numbers_put_unsigned(PUT(out, "device=d"), table);
    out = PUT(out, "\"device\":\"d");
    return PUT(numbers_put_unsigned(out, table), "\"");
}

static bool make_tags(struct points *p)
{
    const size_t most = NUMBER_BYTES + FRAME_BYTES +
                        (size_t)p->schema->tag_count * (NAME_MAX_BYTES + TAG_TEXT_MAX + 8);
    size_t used = 0, size = 0;
    p->tags_at = calloc(p->spec->tables + 1, sizeof *p->tags_at);
    if (!p->tags_at)
        return false;
    for (uint32_t table = 0; table < p->spec->tables; table++) {
        if (used + most > size) {
            size = 2 * size + most;
            char *larger = realloc(p->tags, size);
            if (!larger)
                return false;
            p->tags = larger;
        }
        char *out = put_device(p->tags + used, p, table);
        for (uint32_t i = 0; i < p->schema->tag_count; i++)
            out = put_tag(out, p, i, table);
        const uint32_t length = (uint32_t)(out - (p->tags + used));
        p->tags_bytes = length > p->tags_bytes ? length : p->tags_bytes;
        p->tags_at[table + 1] = used += length;
    }
    return true;
}

static uint32_t put_name(struct point_name *name, enum points_form form, const char *measurement,
                         const char *column)
{
    static const char *const heads[] = {[POINTS_PUT] = "{\"metric\":\"",
                                        [POINTS_SERIES] = "{\"name\":\"",
                                        [POINTS_TELNET] = "put "};
    const char *end = form == POINTS_TELNET ? " " : "\",\"tags\":{";
    return (uint32_t)snprintf(name->text, sizeof name->text, "%s%.*s_%s%s", heads[form],
                              NAME_MAX_BYTES - 1, measurement, column, end);
}

bool points_init(struct points *p, enum points_form form, bool in_seconds, const struct spec *spec,
                 const struct schema *schema, const char *measurement)
{
    *p = (struct points){.spec = spec, .schema = schema, .form = form};
    p->divisor = in_seconds ? 1000 * spec_units_per_ms(spec) : 1;
    p->names = calloc(schema->column_count, sizeof *p->names);
    if (!p->names)
        return false;
    for (uint32_t i = 0; i < schema->column_count; i++)
        p->names[i].length = put_name(&p->names[i], form, measurement, schema->columns[i].name);
    return make_tags(p);
}

void points_free(struct points *p)
{
    free(p->tags);
    free(p->tags_at);
    free(p->names);
}

/* Of one point with all that is said of its series. */
static uint64_t point_bytes(const struct points *p)
{
    return NAME_BYTES + 2 * FRAME_BYTES + p->tags_bytes + TIME_BYTES + NUMBER_BYTES;
}

uint64_t points_row_bytes(const struct points *p, uint32_t first, uint32_t count)
{
    (void)first;
    return count * point_bytes(p) + 2;
}

static char *with_point(char *begin, char *end)
{
    if (!memchr(begin, '.', (size_t)(end - begin)) && !memchr(begin, 'e', (size_t)(end - begin)))
        end = PUT(end, ".0");
    return end;
}

static char *put_value(char *out, enum type type, const struct column_data *data, uint32_t row)
{
    if (type == TYPE_FLOAT)
        return with_point(out, put_float(out, ((const float *)data->values)[row]));
    if (type == TYPE_DOUBLE)
        return with_point(out, put_double(out, ((const double *)data->values)[row]));
    return put_whole(out, cell_whole(type, data->values, row));
}

static char *put_tags(const struct points *p, uint32_t table, char *out)
{
    return put_text(out, p->tags + p->tags_at[table],
                    (size_t)(p->tags_at[table + 1] - p->tags_at[table]));
}

/* The text before the first time of a series, or before that of a point. */
static char *put_head(const struct points *p, uint32_t column, uint32_t table, char *out)
{
    out = put_text(out, p->names[column].text, p->names[column].length);
    if (p->form == POINTS_TELNET)
        return out;
    out = put_tags(p, table, out);
    return p->form == POINTS_PUT ? PUT(out, "},\"timestamp\":") : PUT(out, "},\"datapoints\":[");
}

static char *put_point(const struct points *p, const struct batch *batch, struct kept_time *time,
                       uint32_t c, uint32_t row, uint32_t table, char *out)
{
    static const char *const between[] = {
        [POINTS_PUT] = ",\"value\":", [POINTS_SERIES] = ",", [POINTS_TELNET] = " "};
    if (p->form == POINTS_SERIES)
        *out++ = '[';
    out = put_time(time, out, batch->times[row] / p->divisor);
    out = put_text(out, between[p->form], strlen(between[p->form]));
    out = put_value(out, p->schema->columns[c].type, &batch->columns[c], row);
    if (p->form != POINTS_TELNET)
        return p->form == POINTS_PUT ? PUT(out, "},") : PUT(out, "],");
    *out++ = ' ';
    out = put_tags(p, table, out);
    *out++ = '\n';
    return out;
}

/* The points of one column of a slice, from place->row on; it has not reached the slice's end when
 * the room has ended. */
static char *put_series(const struct points *p, const struct batch *batch,
                        struct point_place *place, char *out, const char *end, uint32_t *rows)
{
    const struct slice *slice = &batch->slices[place->slice];
    const uint32_t c = batch->first_column + place->column;
    const uint64_t most = point_bytes(p);
    bool is_open = false;
    for (; place->row < slice->rows; place->row++) {
        const uint32_t row = slice->offset + place->row;
        *rows += place->column + 1 == batch->column_count;
        if (cell_is_left_out(batch, c, row))
            continue;
        if ((uint64_t)(end - out) < most) {
            *rows -= place->column + 1 == batch->column_count;
            break;
        }
        if (p->form != POINTS_SERIES || !is_open)
            out = put_head(p, c, slice->table, out);
        is_open = true;
        out = put_point(p, batch, &place->time, c, row, slice->table, out);
    }
    if (is_open && p->form == POINTS_SERIES)
        out = PUT(out - 1, "]},");
    return out;
}

char *points_put(const struct points *p, const struct batch *batch, struct point_place *place,
                 char *out, uint64_t room, uint32_t *rows)
{
    char *const begin = out;
    const char *const end = out + room - 1;
    const bool is_json = p->form != POINTS_TELNET;
    if (is_json)
        *out++ = '[';
    *rows = 0;
    while (place->slice < batch->slice_count) {
        out = put_series(p, batch, place, out, end, rows);
        if (place->row < batch->slices[place->slice].rows)
            break;
        place->row = 0;
        if (++place->column == batch->column_count) {
            place->column = 0;
            place->slice++;
        }
    }
    if (out == begin + is_json)
        return begin;
    if (is_json)
        out[-1] = ']'; /* for the last comma */
    return out;
}
