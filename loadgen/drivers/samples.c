/* The driver of databases that take series of samples over HTTP: each column of a table is a
 * series, each of its values a sample, a double with its time in ms. Two methods: remote-write  the
 * WriteRequest of Prometheus' remote write 1.0, compressed as a block of snappy: message TimeSeries
 * { repeated Label labels = 1; repeated Sample samples = 2; } message Label { string name = 1,
 * value = 2; } message Sample { double value = 1; int64 timestamp = 2; } import
 * {"metric":{"__name__":"m_current","device":"d7"},"values":[10.1,10.2],
 *                   "timestamps":[1500000000000,1500000000001]}, one series in a line
 * The labels of a series are its name, the number of its table and the tags of the table, in the
 * order of their names. A tag without text is left out. NULLs are left out; a row of nothing but
 * NULLs keeps its first value. Options: those of posts.h; `precision` of the spec must be ms. */
#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"
#include "cells.h"
#include "doubles.h"
#include "json_text.h"
#include "posts.h"
#include "table_texts.h"
#include "varint.h"

struct run { /* successive rows of one column of one table */
    const struct batch *batch;
    uint32_t column, first, rows; /* first: row of the batch */
    const char *labels; /* encoded labels before the name and behind it */
    uint32_t before, behind;
    const char *name; /* with the name of the series, encoded */
    uint32_t name_bytes;
    struct kept_time *time;
};

struct samples_form {
    uint32_t frame_bytes; /* without labels and samples */
    uint32_t sample_bytes; /* most bytes of a sample */
    char *(*put_label)(char *out, const char *name, const char *value, size_t length);
    uint32_t (*label_bytes)(size_t name, size_t value); /* most bytes of a label */
    /* As one series; `out` if all samples are left out. */
    char *(*put_run)(const struct run *run, char *out);
};

enum { TIME_BYTES = 24, FRAME_BYTES = 64 };

static char *json_label(char *out, const char *name, const char *value, size_t length)
{
    *out++ = '"';
    out = put_text(out, name, strlen(name)); /* column names need no escapes */
    out = put_word(out, "\":\"");
    out = json_put_text(out, value, length);
    return put_word(out, "\",");
}

static uint32_t json_label_bytes(size_t name, size_t value)
{
    return (uint32_t)(6 + name + JSON_ESCAPE_BYTES * value);
}

static char *json_values(const struct run *run, char *out)
{
    const struct batch *batch = run->batch;
    const struct column_data *data = &batch->columns[run->column];
    const enum type type = batch->schema->columns[run->column].type;
    for (uint32_t row = run->first; row < run->first + run->rows; row++)
        if (!cell_is_left_out(batch, run->column, row)) {
            out = cell_put_number(out, type, data->values, row);
            *out++ = ',';
        }
    return out;
}

static char *json_times(const struct run *run, char *out)
{
    for (uint32_t row = run->first; row < run->first + run->rows; row++)
        if (!cell_is_left_out(run->batch, run->column, row)) {
            out = put_time(run->time, out, run->batch->times[row]);
            *out++ = ',';
        }
    return out;
}

static char *json_run(const struct run *run, char *out)
{
    char *const begin = out;
    out = put_word(out, "{\"metric\":{");
    out = put_text(out, run->labels, run->before);
    out = put_text(out, run->name, run->name_bytes);
    out = put_text(out, run->labels + run->before, run->behind);
    out = put_word(out - 1, "},\"values\":["); /* for the last comma */
    char *const values = out;
    out = json_values(run, out);
    if (out == values)
        return begin;
    out = put_word(out - 1, "],\"timestamps\":[");
    out = json_times(run, out);
    return put_word(out - 1, "]}\n");
}

static const struct samples_form form_json = {
    .frame_bytes = FRAME_BYTES,
    .sample_bytes = NUMBER_BYTES + TIME_BYTES,
    .put_label = json_label,
    .label_bytes = json_label_bytes,
    .put_run = json_run,
};

/* `remote-write`: protobuf. A field is its key (number << 3 | wire type) and value: wire type 1 is
 * eight bytes, 2 a length and so many bytes, 0 a varint. */

enum {
    LENGTH_BYTES = 4, /* length of a body below 2^28 bytes */
    KEY_1_DOUBLE = 1 << 3 | 1,
    KEY_1_BYTES = 1 << 3 | 2,
    KEY_2_BYTES = 2 << 3 | 2,
    KEY_2_VARINT = 2 << 3,
    SAMPLE_BYTES = 3 + 1 + 8 + VARINT_BYTES,
    CHUNK = 64 /* values converted at a time */
};

static char *protobuf_bytes(char *out, char key, const char *text, size_t length)
{
    *out++ = key;
    out = put_varint(out, length);
    memcpy(out, text, length);
    return out + length;
}

static char *protobuf_label(char *out, const char *name, const char *value, size_t length)
{
    const size_t named = strlen(name);
    *out++ = KEY_1_BYTES;
    out = put_varint(out, 2 + varint_bytes(named) + named + varint_bytes(length) + length);
    out = protobuf_bytes(out, KEY_1_BYTES, name, named);
    return protobuf_bytes(out, KEY_2_BYTES, value, length);
}

static uint32_t protobuf_label_bytes(size_t name, size_t value)
{
    return (uint32_t)(3 + 3 * LENGTH_BYTES + name + value);
}

static inline char *protobuf_sample(char *out, double value, int64_t time)
{
    out[0] = KEY_2_BYTES;
    out[2] = KEY_1_DOUBLE;
    memcpy(out + 3, &value, sizeof value);
    out[11] = KEY_2_VARINT;
    char *const end = put_varint(out + 12, (uint64_t)time);
    out[1] = (char)(end - (out + 2));
    return end;
}

static char *protobuf_samples(const struct run *run, char *out)
{
    const struct batch *batch = run->batch;
    const struct column_data *data = &batch->columns[run->column];
    const enum type type = batch->schema->columns[run->column].type;
    double values[CHUNK];
    for (uint32_t done = 0, n; done < run->rows; done += n) {
        const uint32_t first = run->first + done;
        n = run->rows - done < CHUNK ? run->rows - done : CHUNK;
        doubles_read(values, type, data->values, first, n);
        for (uint32_t i = 0; i < n; i++)
            if (!data->nulls || !cell_is_left_out(batch, run->column, first + i))
                out = protobuf_sample(out, values[i], batch->times[first + i]);
    }
    return out;
}

/* A length of variable size stands before the series, which is written behind the longest one, then
 * moved. */
static char *protobuf_run(const struct run *run, char *out)
{
    char *const series = out + 1 + LENGTH_BYTES;
    char *at = put_text(series, run->labels, run->before);
    at = put_text(at, run->name, run->name_bytes);
    at = put_text(at, run->labels + run->before, run->behind);
    const char *const end = protobuf_samples(run, at);
    if (end == at)
        return out;
    const size_t length = (size_t)(end - series);
    *out++ = KEY_1_BYTES;
    out = put_varint(out, length);
    memmove(out, series, length);
    return out + length;
}

static const struct samples_form form_protobuf = {
    .frame_bytes = 1 + LENGTH_BYTES,
    .sample_bytes = SAMPLE_BYTES,
    .put_label = protobuf_label,
    .label_bytes = protobuf_label_bytes,
    .put_run = protobuf_run,
};

enum { NAME_BYTES = 2 * NAME_MAX_BYTES, LABEL_BYTES = 8 * NAME_BYTES };

struct sample_name {
    char label[LABEL_BYTES];
    uint32_t length;
};

struct label { /* one label of a table's series */
    const char *name;
    uint32_t tag; /* the number of tags: the device */
};

struct samples { /* labels of all series; read-only once made */
    const struct spec *spec;
    const struct schema *schema;
    const struct samples_form *form;
    const struct label *label_names; /* only while the labels are made */
    struct table_texts labels;
    uint32_t *names_at; /* by table: bytes of labels before the name */
    uint32_t labels_bytes; /* the longest labels, with the name */
    struct sample_name *names; /* one per column of the schema */
};

static bool has_type(enum type type)
{
    return !type_is_text(type) && type != TYPE_BIGINT && type != TYPE_UBIGINT &&
           type != TYPE_TIMESTAMP && type != TYPE_GEOMETRY;
}

static const char series_name[] = "__name__";

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

static const char *label_value(const struct samples *s, const struct label *label, uint32_t table,
                               char text[TAG_TEXT_MAX], uint32_t *length)
{
    if (label->tag == s->schema->tag_count) {
        *length = (uint32_t)(put_unsigned(text + 1, table) - text);
        text[0] = 'd';
        return text;
    }
    return tag_text(s->spec, s->schema, label->tag, table, text, length);
}

/* Except the name of the series, whose place goes to names_at. */
static char *put_labels(void *context, uint32_t table, char *out)
{
    const struct samples *s = context;
    const struct label *labels = s->label_names;
    char text[TAG_TEXT_MAX];
    char *const begin = out;
    uint32_t length;
    for (uint32_t i = 0; i <= s->schema->tag_count; i++) {
        const char *value = label_value(s, &labels[i], table, text, &length);
        if (length > 0)
            out = s->form->put_label(out, labels[i].name, value, length);
        if (strcmp(labels[i].name, series_name) < 0)
            s->names_at[table] = (uint32_t)(out - begin);
    }
    return out;
}

static bool make_tables(struct samples *s)
{
    const size_t most =
        (size_t)(s->schema->tag_count + 1) * s->form->label_bytes(NAME_MAX_BYTES, TAG_TEXT_MAX);
    s->names_at = calloc(s->spec->tables, sizeof *s->names_at);
    return s->names_at && table_texts_make(&s->labels, s->spec->tables, most, 0, put_labels, s);
}

static bool make_labels(struct samples *s)
{
    const uint32_t tags = s->schema->tag_count;
    struct label *labels = calloc(tags + 1, sizeof *labels);
    if (!labels)
        return false;
    for (uint32_t i = 0; i <= tags; i++)
        labels[i] = (struct label){i < tags ? s->schema->tags[i].name : "device", i};
    qsort(labels, tags + 1, sizeof *labels, by_name);
    s->label_names = labels;
    const bool is_made = make_tables(s);
    s->label_names = NULL;
    free(labels);
    return is_made;
}

static uint32_t put_name(const struct samples *s, char *out, const char *measurement,
                         const char *column)
{
    char name[NAME_BYTES];
    const int length =
        snprintf(name, sizeof name, "%.*s_%s", NAME_MAX_BYTES - 1, measurement, column);
    return (uint32_t)(s->form->put_label(out, series_name, name, (size_t)length) - out);
}

static bool init(void *encoder, const struct post_names *names)
{
    const struct schema *schema = names->schema;
    struct samples *s = encoder;
    *s = (struct samples){.spec = names->spec, .schema = schema, .form = names->variant};
    s->names = calloc(schema->column_count, sizeof *s->names);
    if (!s->names || !make_labels(s))
        return false;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        struct sample_name *name = &s->names[i];
        name->length = put_name(s, name->label, names->measurement, schema->columns[i].name);
        longest = name->length > longest ? name->length : longest;
    }
    s->labels_bytes = s->labels.longest + longest;
    return true;
}

static void drop(void *encoder)
{
    struct samples *s = encoder;
    table_texts_free(&s->labels);
    free(s->names_at);
    free(s->names);
}

static uint32_t series_bytes(const struct samples *s) /* bytes without samples */
{
    return s->form->frame_bytes + s->labels_bytes;
}

/* Each sample may need its own series. */
static uint64_t row_bytes(const void *encoder, uint32_t first, uint32_t count)
{
    const struct samples *s = encoder;
    (void)first;
    return (uint64_t)count * (series_bytes(s) + s->form->sample_bytes);
}

static struct run run_of(const struct samples *s, const struct batch *batch,
                         struct post_place *place, uint32_t rows)
{
    const struct slice *slice = &batch->slices[place->slice];
    const uint32_t column = batch->first_column + place->column;
    const uint32_t before = s->names_at[slice->table];
    uint32_t length;
    const char *labels = table_text(&s->labels, slice->table, &length);
    return (struct run){
        .batch = batch,
        .column = column,
        .first = slice->offset + place->row,
        .rows = rows,
        .labels = labels,
        .before = before,
        .behind = length - before,
        .name = s->names[column].label,
        .name_bytes = s->names[column].length,
        .time = &place->time,
    };
}

/* By column through each slice; a row is complete with its last column. */
static char *put(const void *encoder, const struct batch *batch, void *next, char *out,
                 uint64_t room, uint32_t *rows)
{
    const struct samples *s = encoder;
    struct post_place *const place = next;
    const char *const end = out + room;
    *rows = 0;
    while (place->slice < batch->slice_count) {
        const uint32_t left = batch->slices[place->slice].rows - place->row;
        const uint64_t space = (uint64_t)(end - out);
        if (space < series_bytes(s) + s->form->sample_bytes)
            break;
        const uint64_t fit = (space - series_bytes(s)) / s->form->sample_bytes;
        const uint32_t count = fit < left ? (uint32_t)fit : left;
        const struct run run = run_of(s, batch, place, count);
        out = s->form->put_run(&run, out);
        place->row += count;
        *rows += place->column + 1 == batch->column_count ? count : 0;
        if (count < left)
            break;
        place->row = 0;
        if (++place->column == batch->column_count) {
            place->column = 0;
            place->slice++;
        }
    }
    return out;
}

static const struct post_kind kind = {
    .has = has_type,
    .lacks = "a sample is a double, which cannot hold",
    .ms_only = "precision: a sample has a time in ms only",
    .encoder_bytes = sizeof(struct samples),
    .place_bytes = sizeof(struct post_place),
    .init = init,
    .drop = drop,
    .row_bytes = row_bytes,
    .put = put,
};

#define FORM(its_variant, ...)                                                                     \
    (&(const struct post_form){.kind = &kind, .variant = &(its_variant), .port = 8428, __VA_ARGS__})
static const struct driver_method methods[] = {
    {"remote-write", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     FORM(form_protobuf, .path = "/api/v1/write", .packing = &packing_snappy,
          .header = "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n"
                    "X-Prometheus-Remote-Write-Version: 0.1.0\r\n")},
    {"import", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     FORM(form_json, .path = "/api/v1/import", .header = "Content-Type: application/json\r\n")},
    {NULL, 0, NULL},
};
static const char *const options[] = {POSTS_OPTIONS, NULL};

const struct driver_ops driver_samples = {
    POSTS_FUNCTIONS,
    .name = "samples",
    .methods = methods,
    .options = options,
};
