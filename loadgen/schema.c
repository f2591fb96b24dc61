/* See schema.h. */
#include "schema.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct type_facts {
    const char *name;
    uint32_t width; /* 0: as long as declared */
    double low, span, steps;
};

/* Wide enough for measurements, narrow enough for every database. */
static const struct type_facts facts[TYPE_COUNT] = {
    [TYPE_BOOL] = {"bool", 1, 0, 1, 1},
    [TYPE_TINYINT] = {"tinyint", 1, 0, 100, 1},
    [TYPE_SMALLINT] = {"smallint", 2, 0, 10000, 1},
    [TYPE_INT] = {"int", 4, 0, 1000000, 1},
    [TYPE_BIGINT] = {"bigint", 8, 0, 1e12, 1},
    [TYPE_UTINYINT] = {"utinyint", 1, 0, 200, 1},
    [TYPE_USMALLINT] = {"usmallint", 2, 0, 50000, 1},
    [TYPE_UINT] = {"uint", 4, 0, 1000000, 1},
    [TYPE_UBIGINT] = {"ubigint", 8, 0, 1e12, 1},
    [TYPE_FLOAT] = {"float", 4, 0, 100, 1000},
    [TYPE_DOUBLE] = {"double", 8, 0, 1000, 1000},
    [TYPE_TIMESTAMP] = {"timestamp", 8, 0, 0, 0},
    [TYPE_BINARY] = {"binary", 0, 0, 0, 0},
    [TYPE_NCHAR] = {"nchar", 0, 0, 0, 0},
    [TYPE_VARBINARY] = {"varbinary", 0, 0, 0, 0},
    [TYPE_GEOMETRY] = {"geometry", 0, 0, 0, 0},
    [TYPE_JSON] = {"json", 0, 0, 0, 0},
};

/* Columns and tags of the common smart meter and of TDengine's comparison with Cassandra. */
static const struct meter {
    const char *name;
    enum type type;
    double low, span, steps;
} meters[] = {
    {"current", TYPE_FLOAT, 8, 4, 1000}, {"voltage", TYPE_INT, 110, 130, 1},
    {"phase", TYPE_FLOAT, 0, 1, 1000},   {"groupid", TYPE_INT, 1, 9, 1},
    {"devgroup", TYPE_INT, 0, 99, 1},
};

enum { TEXT_BYTES_MAX = 65517, GEOMETRY_POINT_BYTES = 21, JSON_BYTES = 256 };

const char *type_name(enum type type)
{
    return facts[type].name;
}

bool type_is_text(enum type type)
{
    return facts[type].width == 0;
}

#define SHOWN(c_type, format)                                                                      \
    do {                                                                                           \
        c_type v;                                                                                  \
        memcpy(&v, value, sizeof v);                                                               \
        return (size_t)snprintf(out, TYPE_TEXT_BYTES, format, v);                                  \
    } while (0)

size_t type_print(enum type type, const void *value, char out[TYPE_TEXT_BYTES])
{
    float real;
    switch (type) {
    case TYPE_BOOL:
        return (size_t)snprintf(out, TYPE_TEXT_BYTES, "%s",
                                *(const uint8_t *)value ? "true" : "false");
    case TYPE_UTINYINT:
        SHOWN(uint8_t, "%" PRIu8);
    case TYPE_TINYINT:
        SHOWN(int8_t, "%" PRId8);
    case TYPE_SMALLINT:
        SHOWN(int16_t, "%" PRId16);
    case TYPE_USMALLINT:
        SHOWN(uint16_t, "%" PRIu16);
    case TYPE_INT:
        SHOWN(int32_t, "%" PRId32);
    case TYPE_UINT:
        SHOWN(uint32_t, "%" PRIu32);
    case TYPE_UBIGINT:
        SHOWN(uint64_t, "%" PRIu64);
    case TYPE_DOUBLE:
        SHOWN(double, "%.17g");
    case TYPE_FLOAT:
        memcpy(&real, value, sizeof real);
        return (size_t)snprintf(out, TYPE_TEXT_BYTES, "%.9g", (double)real);
    default: /* also a timestamp in units of the precision */
        SHOWN(int64_t, "%" PRId64);
    }
}

static bool find_type(const char *word, enum type *type)
{
    static const struct {
        const char *name;
        enum type type;
    } others[] = {
        {"varchar", TYPE_BINARY},
        {"tinyint unsigned", TYPE_UTINYINT},
        {"smallint unsigned", TYPE_USMALLINT},
        {"int unsigned", TYPE_UINT},
        {"bigint unsigned", TYPE_UBIGINT},
    };
    for (int i = 0; i < TYPE_COUNT; i++)
        if (strcmp(word, facts[i].name) == 0) {
            *type = (enum type)i;
            return true;
        }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(word, others[i].name) == 0) {
            *type = others[i].type;
            return true;
        }
    return false;
}

static bool name_is_plain(const char *name)
{
    if (!isalpha((unsigned char)name[0]) && name[0] != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return strlen(name) < NAME_MAX_BYTES;
}

static void set_range(struct column *column)
{
    const struct type_facts *f = &facts[column->type];
    column->low = f->low;
    column->span = f->span;
    column->steps = f->steps;
    column->width = f->width ? f->width : column->length;
    for (size_t i = 0; i < sizeof meters / sizeof *meters; i++)
        if (meters[i].type == column->type && strcmp(meters[i].name, column->name) == 0) {
            column->low = meters[i].low;
            column->span = meters[i].span;
            column->steps = meters[i].steps;
        }
}

/* The number of "(24)"; 0: there is none, -1: it is no number. */
static long cut_length(char *type)
{
    char *open = strchr(type, '('), *end;
    if (!open)
        return 0;
    const long length = strtol(open + 1, &end, 10);
    if (end == open + 1 || strcmp(end, ")") != 0 || length < 1 || length > TEXT_BYTES_MAX)
        return -1;
    *open = '\0';
    return length;
}

/* Reads one "name:type"; false after reporting the mistake. */
static bool read_one(struct column *column, char *item, const char *key, bool is_tag,
                     struct mistakes *mistakes)
{
    char *type = strchr(item, ':');
    if (!type) {
        mistake_add(mistakes, key, "'%s' should read name:type", item);
        return false;
    }
    *type++ = '\0';
    const long length = cut_length(type);
    if (!name_is_plain(item))
        mistake_add(mistakes, key, "'%s' is not a plain name", item);
    else if (length < 0)
        mistake_add(mistakes, key, "%s: the length in '%s' should be 1..%d", item, type,
                    TEXT_BYTES_MAX);
    else if (!find_type(type, &column->type))
        mistake_add(mistakes, key, "%s: unknown type '%s'", item, type);
    else if (column->type == TYPE_JSON && !is_tag)
        mistake_add(mistakes, key, "%s: json is for tags only", item);
    else if (type_is_text(column->type) && length == 0 && column->type != TYPE_JSON)
        mistake_add(mistakes, key, "%s: %s needs a length, as %s(24)", item, type, type);
    else if (!type_is_text(column->type) && length > 0)
        mistake_add(mistakes, key, "%s: %s takes no length", item, type);
    else if (column->type == TYPE_GEOMETRY && length < GEOMETRY_POINT_BYTES)
        mistake_add(mistakes, key, "%s: geometry needs %d bytes or more", item,
                    GEOMETRY_POINT_BYTES);
    else {
        strcpy(column->name, item);
        column->length = column->type == TYPE_JSON ? JSON_BYTES : (uint32_t)length;
        set_range(column);
        return true;
    }
    return false;
}

static struct column *read_list(const char *text, const char *key, bool is_tag, uint32_t *count,
                                struct mistakes *mistakes)
{
    char *copy = strdup(text), *rest = copy, *item;
    size_t commas = 0;
    for (const char *c = text; *c; c++)
        commas += *c == ',';
    struct column *columns = calloc(commas + 1, sizeof *columns);
    *count = 0;
    if (!copy || !columns)
        abort();
    while ((item = strsep(&rest, ",")) != NULL) {
        while (*item == ' ')
            item++;
        if (*item == '\0' && commas == 0)
            break;
        if (*count == COLUMNS_MAX) {
            mistake_add(mistakes, key, "more than %d", COLUMNS_MAX);
            break;
        }
        if (!read_one(&columns[*count], item, key, is_tag, mistakes))
            continue;
        for (uint32_t i = 0; i < *count; i++)
            if (strcmp(columns[i].name, columns[*count].name) == 0)
                mistake_add(mistakes, key, "'%s' is named twice", columns[i].name);
        ++*count;
    }
    free(copy);
    return columns;
}

void schema_read(struct schema *schema, const char *columns, const char *tags,
                 struct mistakes *mistakes)
{
    const unsigned before = mistakes->count;
    schema->columns = read_list(columns, "columns", false, &schema->column_count, mistakes);
    schema->tags = read_list(tags, "tags", true, &schema->tag_count, mistakes);
    if (schema->column_count == 0 && mistakes->count == before)
        mistake_add(mistakes, "columns", "at least one is needed");
}

void schema_round(struct schema *schema, const char *decimals, struct mistakes *mistakes)
{
    double steps = 1;
    if (!decimals)
        return;
    if (*decimals < '0' || *decimals > '5' || decimals[1]) {
        mistake_add(mistakes, "decimals", "'%s' is outside 0..5", decimals);
        return;
    }
    for (int i = 0; i < *decimals - '0'; i++)
        steps *= 10;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        struct column *c = &schema->columns[i];
        if (c->type == TYPE_FLOAT || c->type == TYPE_DOUBLE) {
            c->steps = steps;
            c->is_rounded = true;
        }
    }
}

void schema_free(struct schema *schema)
{
    free(schema->columns);
    free(schema->tags);
}

uint64_t schema_row_bytes(const struct schema *schema)
{
    uint64_t bytes = sizeof(int64_t);
    for (uint32_t i = 0; i < schema->column_count; i++)
        bytes += schema->columns[i].width;
    return bytes;
}
