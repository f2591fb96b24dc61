/* The driver of databases that take points, one for each column of a row, as text:
 *     PUT     {"metric":"m_current","tags":{"device":"d7"},"timestamp":1500000000000,"value":10.1}
 *     SERIES  {"name":"m_current","tags":{"device":"d7"},"datapoints":[[1500000000000,10.1],...]}
 *     TELNET  put m_current 1500000000000 10.1 device=d7
 * A table is a series: its number and its tags are the tags of its points. Characters that a tag
 * cannot have become "_". A boolean is 0 or 1; a number of a
 * column of fractions always has its point, for these databases keep whole numbers apart. A NULL is
 * left out; a row of nothing but NULLs keeps its first value.
 * Methods: `put`, points one by one as JSON over HTTP; `datapoints`, points by series; `gzip`,
 * the same compressed; `telnet`, points one by one as lines over a bare connection without answers.
 * Options: those of posts.h, and in_seconds=1: times are whole seconds, not as `precision` says. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"
#include "cells.h"
#include "posts.h"
#include "table_texts.h"

enum points_form { POINTS_PUT, POINTS_SERIES, POINTS_TELNET };
enum { NAME_BYTES = 2 * NAME_MAX_BYTES, FRAME_BYTES = 64, TIME_BYTES = 24 };

struct point_name {
    char text[NAME_BYTES + FRAME_BYTES]; /* {"metric":"m_current","tags":{ */
    uint32_t length;
};

struct points { /* read-only once made */
    const struct spec *spec;
    const struct schema *schema;
    enum points_form form;
    int64_t divisor;   /* divides times: 1, or the units in a second */
    struct table_texts tags; /* "device":"d7","groupid":"3" */
    struct point_name *names; /* one per column of the schema */
};

static bool has_type(enum type type)
{
    return !type_is_text(type) && type != TYPE_UBIGINT && type != TYPE_GEOMETRY;
}

/* Characters that all of these databases take; "_" for an empty text, which none takes. */
static char *put_tag_text(char *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        *out++ = isalnum((unsigned char)text[i]) || strchr("-_./", text[i]) ? text[i] : '_';
    if (length == 0)
        *out++ = '_';
    return out;
}

static char *put_tag(char *out, const struct points *p, uint32_t tag, uint32_t table)
{
    const char *name = p->schema->tags[tag].name;
    char space[TAG_TEXT_MAX];
    uint32_t length;
    const char *text = tag_text(p->spec, p->schema, tag, table, space, &length);
    const bool is_json = p->form != POINTS_TELNET;
    out = is_json ? put_word(out, ",\"") : put_word(out, " ");
    out = put_tag_text(out, name, strlen(name));
    out = is_json ? put_word(out, "\":\"") : put_word(out, "=");
    out = put_tag_text(out, text, length);
    return is_json ? put_word(out, "\"") : out;
}

static char *put_device(char *out, const struct points *p, uint32_t table)
{
    if (p->form == POINTS_TELNET)
        return put_unsigned(put_word(out, "device=d"), table);
    out = put_word(out, "\"device\":\"d");
    return put_word(put_unsigned(out, table), "\"");
}

static char *put_device_and_tags(void *context, uint32_t table, char *out)
{
    const struct points *p = context;
    out = put_device(out, p, table);
    for (uint32_t i = 0; i < p->schema->tag_count; i++)
        out = put_tag(out, p, i, table);
    return out;
}

static bool make_tags(struct points *p)
{
    const size_t most = NUMBER_BYTES + FRAME_BYTES +
                        (size_t)p->schema->tag_count * (NAME_MAX_BYTES + TAG_TEXT_MAX + 8);
    return table_texts_make(&p->tags, p->spec->tables, most, 0, put_device_and_tags, p);
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

static bool init(void *encoder, const struct post_names *names)
{
    const struct schema *schema = names->schema;
    const enum points_form form = *(const enum points_form *)names->variant;
    struct points *p = encoder;
    *p = (struct points){.spec = names->spec, .schema = schema, .form = form};
    p->divisor = names->is_switched ? 1000 * spec_units_per_ms(names->spec) : 1;
    p->names = calloc(schema->column_count, sizeof *p->names);
    if (!p->names)
        return false;
    for (uint32_t i = 0; i < schema->column_count; i++)
        p->names[i].length =
            put_name(&p->names[i], form, names->measurement, schema->columns[i].name);
    return make_tags(p);
}

static void drop(void *encoder)
{
    struct points *p = encoder;
    table_texts_free(&p->tags);
    free(p->names);
}

static uint64_t point_bytes(const struct points *p)
{
    return NAME_BYTES + 2 * FRAME_BYTES + p->tags.longest + TIME_BYTES + NUMBER_BYTES;
}

static uint64_t row_bytes(const void *encoder, uint32_t first, uint32_t count)
{
    (void)first;
    return count * point_bytes(encoder) + 2;
}

static char *with_point(char *begin, char *end)
{
    if (!memchr(begin, '.', (size_t)(end - begin)) && !memchr(begin, 'e', (size_t)(end - begin)))
        end = put_word(end, ".0");
    return end;
}

static char *put_value(char *out, enum type type, const struct column_data *data, uint32_t row)
{
    if (type == TYPE_FLOAT)
        return with_point(out, put_float(out, ((const float *)data->values)[row]));
    if (type == TYPE_DOUBLE)
        return with_point(out, put_double(out, ((const double *)data->values)[row]));
    return cell_put_number(out, type, data->values, row);
}

static char *put_tags(const struct points *p, uint32_t table, char *out)
{
    uint32_t length;
    const char *text = table_text(&p->tags, table, &length);
    return put_text(out, text, length);
}

/* Before the first time of a series, or that of a point. */
static char *put_head(const struct points *p, uint32_t column, uint32_t table, char *out)
{
    out = put_text(out, p->names[column].text, p->names[column].length);
    if (p->form == POINTS_TELNET)
        return out;
    out = put_tags(p, table, out);
    return p->form == POINTS_PUT ? put_word(out, "},\"timestamp\":")
                                 : put_word(out, "},\"datapoints\":[");
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
        return p->form == POINTS_PUT ? put_word(out, "},") : put_word(out, "],");
    *out++ = ' ';
    out = put_tags(p, table, out);
    *out++ = '\n';
    return out;
}

/* From place->row on, as far as there is room. */
static char *put_series(const struct points *p, const struct batch *batch, struct post_place *place,
                        char *out, const char *end, uint32_t *rows)
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
        out = put_word(out - 1, "]},");
    return out;
}

/* By column through each slice; a row is complete with its last column. */
static char *put(const void *encoder, const struct batch *batch, void *next, char *out,
                 uint64_t room, uint32_t *rows)
{
    const struct points *p = encoder;
    struct post_place *const place = next;
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
        out[-1] = ']'; /* in place of the last comma */
    return out;
}

static const struct post_kind kind = {
    .has = has_type,
    .lacks = "points have no number for",
    .switch_name = "in_seconds",
    .encoder_bytes = sizeof(struct points),
    .place_bytes = sizeof(struct post_place),
    .init = init,
    .drop = drop,
    .row_bytes = row_bytes,
    .put = put,
};

#define JSON "Content-Type: application/json\r\n"
#define GZIP "Content-Type: application/gzip\r\n" /* KairosDB's name for compressed JSON */
#define FORM(its_form, ...)                                                                        \
    (&(const struct post_form){                                                                    \
        .kind = &kind, .variant = &(const enum points_form){its_form}, __VA_ARGS__})
static const struct driver_method methods[] = {
    {"put", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     FORM(POINTS_PUT, .port = 4242, .path = "/api/put", .header = JSON)},
    {"datapoints", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     FORM(POINTS_SERIES, .port = 8080, .path = "/api/v1/datapoints", .header = JSON)},
    {"gzip", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     FORM(POINTS_SERIES, .port = 8080, .path = "/api/v1/datapoints", .header = GZIP,
          .packing = &packing_gzip)},
    {"telnet", FEATURE_DEADLINE | FEATURE_SEPARABLE | FEATURE_UNANSWERED,
     FORM(POINTS_TELNET, .port = 4242, .path = "", .header = "", .is_unanswered = true)},
    {NULL, 0, NULL},
};
static const char *const options[] = {POSTS_OPTIONS, "in_seconds", NULL};

const struct driver_ops driver_points = {
    POSTS_FUNCTIONS,
    .name = "points",
    .methods = methods,
    .options = options,
};
