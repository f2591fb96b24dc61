/* The driver of databases that take the InfluxDB line protocol:
 *     measurement,device=d7,location=north current=10.1,voltage=221i 1500000000000
 * A table is a series: its number and its tags are the tags of its lines. A NULL is left out; a row
 * of nothing but NULLs keeps its first value, for a line without a value is no row. Methods:
 * `http`; `gzip`, the same compressed; `tcp`, over a bare connection without answers. Options:
 * those of posts.h, where write_path is /write by default and `precision` of the spec must be what
 * it says, and parted=1: table t is of measurement <table>_p<t mod partitions>. */
#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"
#include "ahead.h"
#include "cells.h"
#include "posts.h"
#include "table_texts.h"

enum { COPY_BYTES = 16, TIME_BYTES = 24, ESCAPED = 2 };

struct line_field {
    char name[NAME_MAX_BYTES + COPY_BYTES]; /* "name=" */
    uint32_t length;
};

struct lines { /* read-only once made */
    const struct spec *spec;
    const struct schema *schema;
    const char *table;   /* the measurement */
    bool is_parted;      /* table t belongs to measurement <table>_p<t mod partitions> */
    struct table_texts heads; /* measurement and tags */
    struct line_field *fields; /* one per column of the schema */
};

struct line_place {
    struct post_place at;
    struct ahead ahead;
};

static bool has_type(enum type type)
{
    return type != TYPE_UBIGINT && type != TYPE_VARBINARY && type != TYPE_GEOMETRY;
}

/* In steps of COPY_BYTES: up to so many bytes more are written. */
static inline char *put_bytes(char *out, const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i += COPY_BYTES)
        memcpy(out + i, text + i, COPY_BYTES);
    return out + length;
}

/* A space, a comma and an equals sign get a backslash. */
static char *put_name(char *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ' || text[i] == ',' || text[i] == '=')
            *out++ = '\\';
        *out++ = text[i];
    }
    return out;
}

static char *put_tag(char *out, const struct lines *l, uint32_t tag, uint32_t table)
{
    char space[TAG_TEXT_MAX];
    uint32_t length;
    const char *text = tag_text(l->spec, l->schema, tag, table, space, &length);
    *out++ = ',';
    out = put_name(out, l->schema->tags[tag].name, strlen(l->schema->tags[tag].name));
    *out++ = '=';
    return put_name(out, text, length);
}

static char *put_head(void *context, uint32_t table, char *out)
{
    const struct lines *l = context;
    out = put_name(out, l->table, strlen(l->table));
    if (l->is_parted) {
        memcpy(out, "_p", 2);
        out = put_unsigned(out + 2, table % l->spec->partitions);
    }
    memcpy(out, ",device=d", 9);
    out = put_unsigned(out + 9, table);
    for (uint32_t i = 0; i < l->schema->tag_count; i++)
        out = put_tag(out, l, i, table);
    return out;
}

static bool make_heads(struct lines *l)
{
    const size_t most = 2 * (strlen(l->table) + NUMBER_BYTES) + 16 +
                        (size_t)l->schema->tag_count * 2 * (NAME_MAX_BYTES + TAG_TEXT_MAX);
    return table_texts_make(&l->heads, l->spec->tables, most, COPY_BYTES, put_head, l);
}

static bool init(void *encoder, const struct post_names *names)
{
    const struct schema *schema = names->schema;
    struct lines *l = encoder;
    *l = (struct lines){.spec = names->spec,
                        .schema = schema,
                        .table = names->measurement,
                        .is_parted = names->is_switched};
    l->fields = calloc(schema->column_count, sizeof *l->fields);
    if (!l->fields)
        return false;
    for (uint32_t i = 0; i < schema->column_count; i++)
        l->fields[i].length = (uint32_t)snprintf(l->fields[i].name, sizeof l->fields[i].name,
                                                 "%s=", schema->columns[i].name);
    return make_heads(l);
}

static void drop(void *encoder)
{
    struct lines *l = encoder;
    table_texts_free(&l->heads);
    free(l->fields);
}

static uint64_t row_bytes(const void *encoder, uint32_t first, uint32_t count)
{
    const struct lines *l = encoder;
    uint64_t bytes = l->heads.longest + TIME_BYTES + COPY_BYTES;
    for (uint32_t i = first; i < first + count; i++) {
        const struct column *c = &l->schema->columns[i];
        bytes += l->fields[i].length + 4 + COPY_BYTES;
        bytes += type_is_text(c->type) ? (uint64_t)c->length * ESCAPED : NUMBER_BYTES;
    }
    return bytes;
}

#define VALUE(ctype) (((const ctype *)data->values)[row])

static char *put_field(char *out, const struct column *column, const struct column_data *data,
                       uint32_t row)
{
    switch (column->type) {
    case TYPE_FLOAT:
        return put_float(out, VALUE(float));
    case TYPE_DOUBLE:
        return put_double(out, VALUE(double));
    case TYPE_BOOL:
        *out = VALUE(int8_t) ? 't' : 'f';
        return out + 1;
    case TYPE_BINARY:
    case TYPE_NCHAR:
        return cell_put_quoted(out, (const uint8_t *)data->values + (size_t)row * column->width,
                               (uint32_t)data->lengths[row]);
    default:
        out = put_whole(out, cell_whole(column->type, data->values, row));
    }
    *out = 'i';
    return out + 1;
}

static char *put_ahead_field(char *out, const struct ahead *ahead, uint32_t c, uint32_t row)
{
    const enum ahead_form form = ahead->forms[c];
    out = put_ahead(out, form, ahead->numbers[c][row - ahead->first]);
    *out = 'i';
    return out + (form == AHEAD_WHOLE);
}

static char *put_fields(const struct lines *l, const struct batch *batch, const struct ahead *ahead,
                        uint32_t row, char *out)
{
    const uint32_t first = batch->first_column;
    char *const begin = out;
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const uint32_t c = first + i;
        if (cell_is_null(batch, c, row))
            continue;
        *out++ = ',';
        out = put_bytes(out, l->fields[c].name, l->fields[c].length);
        out = i < ahead->count && ahead->forms[i]
                  ? put_ahead_field(out, ahead, i, row)
                  : put_field(out, &l->schema->columns[c], &batch->columns[c], row);
    }
    if (out == begin) { /* nothing but NULLs */
        out = put_bytes(out + 1, l->fields[first].name, l->fields[first].length);
        out = put_field(out, &l->schema->columns[first], &batch->columns[first], row);
    }
    *begin = ' ';
    return out;
}

static char *put(const void *encoder, const struct batch *batch, void *next, char *out,
                 uint64_t room, uint32_t *rows)
{
    const struct lines *l = encoder;
    const uint64_t most = row_bytes(l, batch->first_column, batch->column_count);
    struct post_place *const place = next;
    struct ahead *const ahead = &((struct line_place *)next)->ahead;
    if (place->slice == 0 && place->row == 0)
        ahead->end = 0;
    for (*rows = 0; place->slice < batch->slice_count; place->slice++, place->row = 0) {
        const struct slice *slice = &batch->slices[place->slice];
        uint32_t length;
        const char *const head = table_text(&l->heads, slice->table, &length);
        for (; place->row < slice->rows; place->row++, ++*rows) {
            const uint32_t row = slice->offset + place->row;
            char *const begin = out;
            if (room < most)
                return out;
            if (row == ahead->end)
                read_ahead(ahead, batch);
            out = put_bytes(out, head, length);
            out = put_fields(l, batch, ahead, row, out);
            *out++ = ' ';
            out = put_time(&place->time, out, batch->times[row]);
            *out++ = '\n';
            room -= (uint64_t)(out - begin);
        }
    }
    return out;
}

static const struct post_kind kind = {
    .has = has_type,
    .lacks = "lines have no way to write",
    .switch_name = "parted",
    .encoder_bytes = sizeof(struct lines),
    .place_bytes = sizeof(struct line_place),
    .init = init,
    .drop = drop,
    .row_bytes = row_bytes,
    .put = put,
};

#define PLAIN "Content-Type: text/plain; charset=utf-8\r\n"
#define FORM(...) (&(const struct post_form){.kind = &kind, .path = "/write", __VA_ARGS__})
static const struct driver_method methods[] = {
    {"http", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(.port = 8086, .header = PLAIN)},
    {"gzip", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     FORM(.port = 8086, .header = PLAIN "Content-Encoding: gzip\r\n", .packing = &packing_gzip)},
    {"tcp", FEATURE_DEADLINE | FEATURE_SEPARABLE | FEATURE_UNANSWERED,
     FORM(.port = 9009, .header = "", .is_unanswered = true)},
    {NULL, 0, NULL},
};
static const char *const options[] = {POSTS_OPTIONS, "parted", "auth_scheme", NULL};

const struct driver_ops driver_lines = {
    POSTS_FUNCTIONS, .name = "lines", .methods = methods, .options = options, .has_parts = true,
};
