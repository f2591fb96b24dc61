/* Rows as messages of the PostgreSQL protocol: the values of some rows are bound to a prepared
 * INSERT with so many rows of VALUES, and it is executed. What the rows of a table have in common,
 * the device and its tags, stands in the head of the table, made once. Nothing is allocated for a
 * row. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tags.h"
#include "pgwire_parts.h"

enum {
    MESSAGE_BYTES = 96, /* around the values of a statement, at most */
    DEVICE_BYTES = 16,
    TIME_BYTES = 4 + 8
};

static unsigned oid_of(enum type type)
{
    switch (type) {
    case TYPE_BOOL:
        return OID_BOOL;
    case TYPE_TINYINT:
    case TYPE_UTINYINT:
    case TYPE_SMALLINT:
        return OID_INT2;
    case TYPE_USMALLINT:
    case TYPE_INT:
        return OID_INT4;
    case TYPE_UINT:
    case TYPE_BIGINT:
        return OID_INT8;
    case TYPE_FLOAT:
        return OID_FLOAT4;
    case TYPE_DOUBLE:
        return OID_FLOAT8;
    default:
        return OID_VARCHAR;
    }
}

static uint8_t *put_bytes(uint8_t *out, const void *bytes, size_t length)
{
    memcpy(out, bytes, length);
    return out + length;
}

__attribute__((format(printf, 2, 3))) static uint8_t *put_words(uint8_t *out, const char *format,
                                                                ...)
{
    va_list arguments;
    va_start(arguments, format);
    out += vsprintf((char *)out, format, arguments);
    va_end(arguments);
    return out;
}

/* A parameter of text, with its length. */
static uint8_t *put_text(uint8_t *out, const char *text, size_t length)
{
    put_u32(out, (uint32_t)length);
    return put_bytes(out + 4, text, length);
}

/* Of a tag's SQL literal the text without its quotes. */
static uint8_t *put_tag(uint8_t *out, const struct driver *d, uint32_t tag, uint32_t table)
{
    char literal[TAG_TEXT_MAX];
    const char *text = literal;
    uint32_t length = tag_literal(d->setup->spec, d->setup->schema, tag, table, literal);
    if (length >= 2 && *text == '\'') {
        text++;
        length -= 2;
    }
    return put_text(out, text, length);
}

size_t pgwire_table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    (void)d;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "d%u", (unsigned)table);
}

static uint8_t *put_head(uint8_t *out, const struct driver *d, uint32_t table)
{
    char device[DRIVER_NAME_MAX];
    out = put_text(out, device, pgwire_table_name(NULL, table, device));
    for (uint32_t i = 0; i < d->setup->schema->tag_count; i++)
        out = put_tag(out, d, i, table);
    return out;
}

static uint32_t parameters_of_row(const struct driver *d)
{
    return 2 + d->setup->schema->tag_count + d->column_count;
}

/* As many rows as a message holds, a tenth of them, and one. */
static void choose_sizes(struct driver *d)
{
    const uint64_t by_bytes = PGWIRE_STATEMENT_BYTES / pgwire_row_bytes(d);
    const uint32_t by_count = PGWIRE_PARAMETERS_MAX / parameters_of_row(d);
    uint32_t most = by_bytes < by_count ? (uint32_t)by_bytes : by_count;
    most = most > PGWIRE_STATEMENT_ROWS ? PGWIRE_STATEMENT_ROWS : most;
    for (uint32_t i = 0; i < PGWIRE_SIZES; i++, most /= 10)
        d->sizes[i] = most > 1 && i + 1 < PGWIRE_SIZES ? most : 1;
}

bool pgwire_make_heads(struct driver *d)
{
    const struct spec *spec = d->setup->spec;
    const size_t most = 4 + DEVICE_BYTES + (size_t)d->setup->schema->tag_count * (4 + TAG_TEXT_MAX);
    size_t used = 0, size = 0;
    d->head_at = calloc(spec->tables + 1, sizeof *d->head_at);
    if (!d->head_at)
        return false;
    for (uint32_t table = 0; table < spec->tables; table++) {
        if (used + most > size) {
            size = 2 * size + most;
            uint8_t *larger = realloc(d->heads, size);
            if (!larger)
                return false;
            d->heads = larger;
        }
        const uint32_t length = (uint32_t)(put_head(d->heads + used, d, table) - d->heads - used);
        d->head_bytes = length > d->head_bytes ? length : d->head_bytes;
        d->head_at[table + 1] = used += length;
    }
    choose_sizes(d);
    return true;
}

uint64_t pgwire_row_bytes(const struct driver *d)
{
    uint64_t bytes = d->head_bytes + TIME_BYTES;
    for (uint32_t i = 0; i < d->column_count; i++)
        bytes += 4 + pg_wire_bytes(&d->columns[i]);
    return bytes;
}

uint64_t pgwire_insert_bytes(const struct driver *d, uint32_t size)
{
    return MESSAGE_BYTES + d->sizes[size] * pgwire_row_bytes(d);
}

uint64_t pgwire_parse_bytes(const struct driver *d)
{
    const uint64_t names = d->setup->schema->tag_count + d->column_count;
    const uint64_t parameters = (uint64_t)d->sizes[0] * parameters_of_row(d);
    return 256 + strlen(d->table) + names * (NAME_MAX_BYTES + 4) + parameters * (8 + 4) +
           4 * (uint64_t)d->sizes[0];
}

/* A message whose length is not known before its end. */
static uint8_t *end_message(uint8_t *begin, char kind, uint8_t *out)
{
    *begin = (uint8_t)kind;
    put_u32(begin + 1, (uint32_t)(out - begin - 1));
    return out;
}

static uint8_t *put_statement_name(const struct driver *d, uint32_t part, uint32_t size,
                                   uint8_t *out)
{
    return put_words(out, "p%u_%u", (unsigned)part, (unsigned)d->sizes[size]) + 1;
}

/* INSERT INTO "table" (device, tags, columns, timestamp) VALUES ($1, $2, ...), ... */
static uint8_t *put_statement(const struct driver *d, uint32_t part, uint32_t size, uint8_t *out)
{
    const struct schema *schema = d->setup->schema;
    const uint32_t count = parameters_of_row(d);
    out = put_words(out, "INSERT INTO \"%s", d->table);
    if (d->is_parted)
        out = put_words(out, "_p%u", (unsigned)part);
    out = put_words(out, "\" (device");
    for (uint32_t i = 0; i < schema->tag_count; i++)
        out = put_words(out, ", \"%s\"", schema->tags[i].name);
    for (uint32_t i = 0; i < d->column_count; i++)
        out = put_words(out, ", \"%s\"", d->columns[i].name);
    out = put_words(out, ", timestamp) VALUES ");
    for (uint32_t i = 0; i < d->sizes[size] * count; i++)
        out = put_words(out, "%s$%u", i % count ? ", " : i ? "), (" : "(", (unsigned)i + 1);
    return put_words(out, ")") + 1;
}

uint8_t *pgwire_put_parse(const struct driver *d, uint32_t part, uint32_t size, uint8_t *out)
{
    const uint32_t tags = d->setup->schema->tag_count, count = parameters_of_row(d);
    uint8_t *const begin = out;
    out = put_statement(d, part, size, put_statement_name(d, part, size, out + 5));
    put_u16(out, (uint16_t)(d->sizes[size] * count));
    out += 2;
    for (uint32_t i = 0; i < d->sizes[size] * count; i++, out += 4) {
        const uint32_t n = i % count;
        put_u32(out, n <= tags        ? OID_VARCHAR
                     : n + 1 == count ? OID_TIMESTAMP
                                      : oid_of(d->columns[n - 1 - tags].type));
    }
    return end_message(begin, 'P', out);
}

uint8_t *pgwire_put_parse_of(uint8_t *out, const char *name, const char *statement)
{
    uint8_t *const begin = out;
    out = put_words(put_words(out + 5, "%s", name) + 1, "%s", statement) + 1;
    put_u16(out, 0);
    return end_message(begin, 'P', out + 2);
}

static uint8_t *put_execute(uint8_t *out)
{
    static const uint8_t execute[] = {'E', 0, 0, 0, 9, 0, 0, 0, 0, 0};
    return put_bytes(out, execute, sizeof execute);
}

uint8_t *pgwire_put_run(uint8_t *out, const char *name)
{
    uint8_t *const begin = out;
    out[5] = 0; /* the portal without a name */
    out = put_words(out + 6, "%s", name) + 1;
    memset(out, 0, 6); /* no formats, no parameters, no formats of an answer */
    return put_execute(end_message(begin, 'B', out + 6));
}

static uint8_t *put_row(const struct driver *d, const struct us_ratio *us,
                        const struct batch *batch, const struct pgwire_row *row, uint8_t *out)
{
    const uint64_t head = d->head_at[row->table];
    out = put_bytes(out, d->heads + head, (size_t)(d->head_at[row->table + 1] - head));
    for (uint32_t i = 0; i < d->column_count; i++)
        out = pg_put_field(us, out, &d->columns[i], &batch->columns[batch->first_column + i],
                           row->row);
    put_u32(out, 8);
    put_u64(out + 4, (uint64_t)pg_us(us, batch->times[row->row]));
    return out + TIME_BYTES;
}

uint8_t *pgwire_put_insert(const struct driver *d, const struct batch *batch, uint32_t part,
                           uint32_t size, const struct pgwire_row *rows, uint8_t *out)
{
    const struct us_ratio us = pg_us_ratio(d->setup->spec);
    uint8_t *const begin = out;
    out[5] = 0; /* the portal without a name */
    out = put_statement_name(d, part, size, out + 6);
    put_u16(out, 1);
    put_u16(out + 2, FORMAT_BINARY);
    put_u16(out + 4, (uint16_t)(d->sizes[size] * parameters_of_row(d)));
    out += 6;
    for (uint32_t i = 0; i < d->sizes[size]; i++)
        out = put_row(d, &us, batch, &rows[i], out);
    put_u16(out, 0);
    return put_execute(end_message(begin, 'B', out + 2));
}
