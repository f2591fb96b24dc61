/* Tags of a table; see tags.h. */
#include "tags.h"

#include <stdio.h>

#include "chance.h"
#include "values.h"

static uint32_t quoted(char *out, uint32_t width, uint64_t hash)
{
    uint8_t text[TAG_TEXT_MAX];
    const uint32_t most = width < 64 ? width : 64; /* a tag is a name, not a document */
    const uint32_t length = text_vocabulary(text, most, hash);
    return (uint32_t)snprintf(out, TAG_TEXT_MAX, "'%.*s'", (int)length, (const char *)text);
}

uint32_t tag_literal(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char *out)
{
    const struct column *column = &schema->tags[tag];
    const uint64_t hash = chance_of(chance_of(~spec->seed, table), tag);
    const uint64_t whole = hash % (uint64_t)(column->span + 1);
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
        return quoted(out, column->length, hash);
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
