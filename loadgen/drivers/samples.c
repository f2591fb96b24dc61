/* Rows as series of samples: their labels, and what fits into a body; see samples.h. */
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"

enum { NAME_BYTES = 2 * NAME_MAX_BYTES, LABEL_BYTES = 8 * NAME_BYTES };

struct sample_name {
    char label[LABEL_BYTES];
    uint32_t length;
};

struct label { /* of a table */
    const char *name;
    uint32_t tag; /* or the number of tags: its device */
};

static const char series_name[] = "__name__";

const struct column *samples_lack(const struct schema *schema, uint32_t first, uint32_t count)
{
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        if (type_is_text(c->type) || c->type == TYPE_BIGINT || c->type == TYPE_UBIGINT ||
            c->type == TYPE_TIMESTAMP || c->type == TYPE_GEOMETRY)
            return c;
    return NULL;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct label *)a)->name, ((const struct label *)b)->name);
}

/* The value of a label: of a tag's SQL literal the text without its quotes. */
static const char *label_value(const struct samples *s, const struct label *label, uint32_t table,
                               char text[TAG_TEXT_MAX], uint32_t *length)
{
    if (label->tag == s->schema->tag_count) {
        *length = (uint32_t)(numbers_put_unsigned(text + 1, table) - text);
        text[0] = 'd';
        return text;
    }
    *length = tag_literal(s->spec, s->schema, label->tag, table, text);
    if (*length < 2 || *text != '\'')
        return text;
    *length -= 2;
    return text + 1;
}

/* All labels of a table but the name of the series; *before: bytes of those that stand before it.
 */
static char *put_labels(const struct samples *s, const struct label *labels, uint32_t table,
                        char *out, uint32_t *before)
{
    char text[TAG_TEXT_MAX];
    char *const begin = out;
    uint32_t length;
    *before = 0;
    for (uint32_t i = 0; i <= s->schema->tag_count; i++) {
        const char *value = label_value(s, &labels[i], table, text, &length);
        if (length > 0)
            out = s->form->put_label(out, labels[i].name, value, length);
        if (strcmp(labels[i].name, series_name) < 0)
            *before = (uint32_t)(out - begin);
    }
    return out;
}

static bool make_tables(struct samples *s, const struct label *labels)
{
    const size_t most =
        (size_t)(s->schema->tag_count + 1) * s->form->label_bytes(NAME_MAX_BYTES, TAG_TEXT_MAX);
    size_t used = 0, size = 0;
    s->labels_at = calloc(s->spec->tables + 1, sizeof *s->labels_at);
    s->names_at = calloc(s->spec->tables, sizeof *s->names_at);
    if (!s->labels_at || !s->names_at)
        return false;
    for (uint32_t table = 0; table < s->spec->tables; table++) {
        if (!s->labels || used + most > size) {
            size = 2 * size + most;
            char *larger = realloc(s->labels, size);
            if (!larger)
                return false;
            s->labels = larger;
        }
        const char *end = put_labels(s, labels, table, s->labels + used, &s->names_at[table]);
        const uint32_t length = (uint32_t)(end - (s->labels + used));
        s->labels_bytes = length > s->labels_bytes ? length : s->labels_bytes;
        s->labels_at[table + 1] = used += length;
    }
    return true;
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
    const bool is_made = make_tables(s, labels);
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

bool samples_init(struct samples *s, const struct samples_form *form, const struct spec *spec,
                  const struct schema *schema, const char *measurement)
{
    *s = (struct samples){.spec = spec, .schema = schema, .form = form};
    s->names = calloc(schema->column_count, sizeof *s->names);
    if (!s->names || !make_labels(s))
        return false;
    uint32_t longest = 0;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        struct sample_name *name = &s->names[i];
        name->length = put_name(s, name->label, measurement, schema->columns[i].name);
        longest = name->length > longest ? name->length : longest;
    }
    s->labels_bytes += longest;
    return true;
}

void samples_free(struct samples *s)
{
    free(s->labels);
    free(s->labels_at);
    free(s->names_at);
    free(s->names);
}

static uint32_t series_bytes(const struct samples *s) /* without samples */
{
    return s->form->frame_bytes + s->labels_bytes;
}

uint64_t samples_row_bytes(const struct samples *s, uint32_t count)
{
    return (uint64_t)count * (series_bytes(s) + s->form->sample_bytes);
}

static struct run run_of(const struct samples *s, const struct batch *batch,
                         struct sample_place *place, uint32_t rows)
{
    const struct slice *slice = &batch->slices[place->slice];
    const uint32_t column = batch->first_column + place->column;
    const uint64_t at = s->labels_at[slice->table];
    const uint32_t before = s->names_at[slice->table];
    return (struct run){
        .batch = batch,
        .column = column,
        .first = slice->offset + place->row,
        .rows = rows,
        .labels = s->labels + at,
        .before = before,
        .behind = (uint32_t)(s->labels_at[slice->table + 1] - at) - before,
        .name = s->names[column].label,
        .name_bytes = s->names[column].length,
        .time = &place->time,
    };
}

char *samples_put(const struct samples *s, const struct batch *batch, struct sample_place *place,
                  char *out, uint64_t room, uint32_t *rows)
{
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
