/* See tags.h. */
#include "tags.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "tags_file.h"
#include "values.h"

#define GROUPS_MAX 1000000000ull

static uint32_t quoted(char *out, uint32_t width, uint64_t hash, bool is_chinese)
{
    uint8_t text[TAG_TEXT_MAX];
    const uint32_t most = width < 64 ? width : 64; /* a tag is a name, not a document */
    const uint32_t length =
        is_chinese ? text_chinese(text, most, hash) : text_vocabulary(text, most, hash);
    return (uint32_t)snprintf(out, TAG_TEXT_MAX, "'%.*s'", (int)length, (const char *)text);
}

static struct column *find_tag(struct schema *schema, const char *name)
{
    for (uint32_t i = 0; i < schema->tag_count; i++)
        if (strcmp(schema->tags[i].name, name) == 0)
            return &schema->tags[i];
    return NULL;
}

/* Reads one "name:count"; false after reporting the mistake. */
static bool read_group(struct schema *schema, char *item, const char *prefix,
                       struct mistakes *mistakes)
{
    char *count = strchr(item, ':'), *end, longest[32];
    if (count)
        *count++ = '\0';
    struct column *tag = find_tag(schema, item);
    const unsigned long long groups = count ? strtoull(count, &end, 10) : 0;
    if (!count || *count < '1' || *count > '9' || *end || groups > GROUPS_MAX) {
        mistake_add(mistakes, "tag_groups", "'%s' needs a number of 1..%llu, as tag_0:50", item,
                    (unsigned long long)GROUPS_MAX);
        return false;
    }
    snprintf(longest, sizeof longest, "%llu", groups - 1);
    if (!tag || (tag->type != TYPE_BINARY && tag->type != TYPE_NCHAR))
        mistake_add(mistakes, "tag_groups", "'%s' is not a tag of type binary or nchar", item);
    else if (tag->groups)
        mistake_add(mistakes, "tag_groups", "'%s' is named twice", item);
    else if (strlen(prefix) + strlen(longest) > tag->length ||
             strlen(prefix) + strlen(longest) > TAG_TEXT_MAX / 2)
        mistake_add(mistakes, "tag_groups", "%s: '%s%s' is longer than %u characters", item, prefix,
                    longest, tag->length < TAG_TEXT_MAX / 2 ? tag->length : TAG_TEXT_MAX / 2);
    else {
        tag->groups = groups;
        return true;
    }
    return false;
}

void tags_group(struct schema *schema, const struct spec *spec, struct mistakes *mistakes)
{
    const char *prefix = spec->tag_prefix ? spec->tag_prefix : "";
    char *copy = strdup(spec->tag_groups ? spec->tag_groups : ""), *rest = copy, *item;
    uint64_t before = 1;
    if (!copy)
        abort();
    for (const char *c = prefix; *c; c++)
        if (*c == '\'' || *c == '"' || *c == '\\' || (unsigned char)*c < ' ') {
            mistake_add(mistakes, "tag_prefix",
                        "'%s' has a quote, a backslash or a control character", prefix);
            break;
        }
    while (*copy && (item = strsep(&rest, ",")) != NULL &&
           read_group(schema, item, prefix, mistakes))
        ;
    free(copy);
    for (uint32_t i = schema->tag_count; i-- > 0;)
        if (schema->tags[i].groups) {
            schema->tags[i].before_next = before;
            before = before > UINT64_MAX / GROUPS_MAX ? before : before * schema->tags[i].groups;
        }
}

static uint32_t grouped(const struct spec *spec, const struct column *tag, uint32_t table,
                        char *out)
{
    return (uint32_t)snprintf(out, TAG_TEXT_MAX, "'%s%" PRIu64 "'",
                              spec->tag_prefix ? spec->tag_prefix : "",
                              table / tag->before_next % tag->groups);
}

uint32_t tag_literal(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char *out)
{
    const struct column *column = &schema->tags[tag];
    const uint64_t hash = chance_of(chance_of(~spec->seed, table), tag);
    const uint64_t whole = hash % (uint64_t)(column->span + 1);
    if (schema->tags_file)
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "%s", tags_file_literal(schema, tag, table));
    if (column->groups)
        return grouped(spec, column, table, out);
    switch (column->type) {
    case TYPE_BOOL:
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "%s", hash & 1 ? "true" : "false");
    case TYPE_FLOAT:
    case TYPE_DOUBLE:
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "%.3f",
                                  column->low + column->span * (double)(hash >> 44) / 1048576.0);
    case TYPE_TIMESTAMP:
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "%lld",
                                  (long long)spec->start_ms * spec_units_per_ms(spec));
    case TYPE_BINARY:
    case TYPE_NCHAR:
    case TYPE_VARBINARY:
        return quoted(out, column->length, hash, spec->text_mode == TEXT_CHINESE);
    case TYPE_GEOMETRY:
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "'POINT(%u %u)'", (unsigned)(hash % 180),
                                  (unsigned)(hash >> 32) % 90);
    case TYPE_JSON:
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "'{\"group\":%u}'", (unsigned)(hash % 10));
    default:
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "%lld",
                                  (long long)column->low + (long long)whole);
    }
}

const char *tag_text(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char out[TAG_TEXT_MAX], uint32_t *length)
{
    *length = tag_literal(spec, schema, tag, table, out);
    if (*length < 2 || *out != '\'')
        return out;
    *length -= 2;
    return out + 1;
}
