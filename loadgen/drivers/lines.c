/* Rows as lines; see lines.h. */
#include "lines.h"

#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"

enum { COPY_BYTES = 16, TIME_BYTES = 24, ESCAPED = 2 };

struct line_field {
    char name[NAME_MAX_BYTES + COPY_BYTES]; /* "name=" */
    uint32_t length;
};

const struct column *lines_lack(const struct schema *schema, uint32_t first, uint32_t count)
{
    for (const struct column *c = schema->columns + first; count > 0; c++, count--)
        if (c->type == TYPE_UBIGINT || c->type == TYPE_VARBINARY || c->type == TYPE_GEOMETRY)
            return c;
    return NULL;
}

/* Copies in steps of COPY_BYTES: up to so many bytes more are written. */
static inline char *put_bytes(char *out, const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i += COPY_BYTES)
        memcpy(out + i, text + i, COPY_BYTES);
    return out + length;
}

/* A name in a line: a space, a comma and an equals sign take a backslash. */
static char *put_name(char *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == ' ' || text[i] == ',' || text[i] == '=')
            *out++ = '\\';
        *out++ = text[i];
    }
    return out;
}

/* Of a tag's SQL literal the text without its quotes. */
static char *put_tag(char *out, const struct lines *l, uint32_t tag, uint32_t table)
{
    char literal[TAG_TEXT_MAX];
    const char *text = literal;
    uint32_t length = tag_literal(l->spec, l->schema, tag, table, literal);
    if (length >= 2 && *text == '\'') {
        text++;
        length -= 2;
    }
    *out++ = ',';
    out = put_name(out, l->schema->tags[tag].name, strlen(l->schema->tags[tag].name));
    *out++ = '=';
    return put_name(out, text, length);
}

static char *put_head(char *out, const struct lines *l, uint32_t table)
{
    out = put_name(out, l->table, strlen(l->table));
    if (l->is_parted) {
        memcpy(out, "_p", 2);
        out = numbers_put_unsigned(out + 2, table % l->spec->partitions);
    }
    memcpy(out, ",device=d", 9);
    out = numbers_put_unsigned(out + 9, table);
    for (uint32_t i = 0; i < l->schema->tag_count; i++)
        out = put_tag(out, l, i, table);
    return out;
}

static bool make_heads(struct lines *l)
{
    const size_t most = 2 * (strlen(l->table) + NUMBER_BYTES) + 16 +
                        (size_t)l->schema->tag_count * 2 * (NAME_MAX_BYTES + TAG_TEXT_MAX);
    size_t used = 0, size = 0;
    l->head_at = calloc(l->spec->tables + 1, sizeof *l->head_at);
    if (!l->head_at)
        return false;
    for (uint32_t table = 0; table < l->spec->tables; table++) {
        if (used + most + COPY_BYTES > size) {
            size = 2 * size + most + COPY_BYTES;
            char *larger = realloc(l->heads, size);
            if (!larger)
                return false;
            l->heads = larger;
        }
        const char *end = put_head(l->heads + used, l, table);
        const uint32_t length = (uint32_t)(end - (l->heads + used));
        l->head_bytes = length > l->head_bytes ? length : l->head_bytes;
        l->head_at[table + 1] = used += length;
    }
    return true;
}

bool lines_init(struct lines *l, const struct spec *spec, const struct schema *schema,
                const char *table, bool is_parted)
{
    *l = (struct lines){.spec = spec, .schema = schema, .table = table, .is_parted = is_parted};
    l->fields = calloc(schema->column_count, sizeof *l->fields);
    if (!l->fields)
        return false;
    for (uint32_t i = 0; i < schema->column_count; i++)
        l->fields[i].length = (uint32_t)snprintf(l->fields[i].name, sizeof l->fields[i].name,
                                                 "%s=", schema->columns[i].name);
    return make_heads(l);
}

void lines_free(struct lines *l)
{
    free(l->heads);
    free(l->head_at);
    free(l->fields);
}

uint64_t lines_row_bytes(const struct lines *l, uint32_t first, uint32_t count)
{
    uint64_t bytes = l->head_bytes + TIME_BYTES + COPY_BYTES;
    for (uint32_t i = first; i < first + count; i++) {
        const struct column *c = &l->schema->columns[i];
        bytes += l->fields[i].length + 4 + COPY_BYTES;
        bytes += type_is_text(c->type) ? (uint64_t)c->length * ESCAPED : NUMBER_BYTES;
    }
    return bytes;
}

static char *put_quoted(char *out, const uint8_t *text, uint32_t length)
{
    *out++ = '"';
    for (uint32_t i = 0; i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            *out++ = '\\';
        *out++ = (char)text[i];
    }
    *out++ = '"';
    return out;
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
        return put_quoted(out, (const uint8_t *)data->values + (size_t)row * column->width,
                          (uint32_t)data->lengths[row]);
    case TYPE_TINYINT:
        out = put_whole(out, VALUE(int8_t));
        break;
    case TYPE_SMALLINT:
        out = put_whole(out, VALUE(int16_t));
        break;
    case TYPE_INT:
        out = put_whole(out, VALUE(int32_t));
        break;
    case TYPE_UTINYINT:
        out = put_whole(out, VALUE(uint8_t));
        break;
    case TYPE_USMALLINT:
        out = put_whole(out, VALUE(uint16_t));
        break;
    case TYPE_UINT:
        out = put_whole(out, VALUE(uint32_t));
        break;
    default: /* bigint, timestamp */
        out = put_whole(out, VALUE(int64_t));
        break;
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

static bool is_null(const struct batch *batch, uint32_t c, uint32_t row)
{
    return batch->columns[c].nulls && batch->columns[c].nulls[row];
}

/* The fields of a row, each with a comma before it but the first. */
static char *put_fields(const struct lines *l, const struct batch *batch, const struct ahead *ahead,
                        uint32_t row, char *out)
{
    const uint32_t first = batch->first_column;
    char *const begin = out;
    for (uint32_t i = 0; i < batch->column_count; i++) {
        const uint32_t c = first + i;
        if (is_null(batch, c, row))
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

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

char *lines_put(const struct lines *l, const struct batch *batch, struct line_place *place,
                char *out, uint64_t room, uint32_t *rows)
{
    const uint64_t most = lines_row_bytes(l, batch->first_column, batch->column_count);
    struct ahead *const ahead = &place->ahead;
    for (*rows = 0; place->slice < batch->slice_count; place->slice++, place->row = 0) {
        const struct slice *slice = &batch->slices[place->slice];
        const char *const head = l->heads + l->head_at[slice->table];
        const uint32_t length = (uint32_t)(l->head_at[slice->table + 1] - l->head_at[slice->table]);
        for (; place->row < slice->rows; place->row++, ++*rows) {
            const uint32_t row = slice->offset + place->row;
            char *const begin = out;
            if (room < most)
                return out;
            if (row == ahead->end)
                read_ahead(ahead, batch, least(AHEAD_ROWS, batch->rows - row));
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
