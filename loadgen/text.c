/* Words of a fixed vocabulary, and the tags of a table; see values.h. */
#include <stdio.h>
#include <string.h>

#include "chance.h"
#include "values.h"

enum { WORD_BITS = 5 };

static const char *const vocabulary[1 << WORD_BITS] = {
    "Amsterdam", "Athens",  "Berlin",  "Bogota", "Boston",  "Brno",   "Cairo",    "Chicago",
    "Copenhagen", "Dakar",  "Delhi",   "Dublin", "Geneva",  "Hanoi",  "Helsinki", "Istanbul",
    "Jakarta",   "Kyoto",   "Lagos",   "Lima",   "Lisbon",  "London", "Madrid",   "Manila",
    "Nairobi",   "Oslo",    "Prague",  "Quito",  "Reykjavik", "Seoul", "Tallinn", "Vienna",
};

uint32_t text_vocabulary(uint8_t *out, uint32_t width, uint64_t hash)
{
    uint32_t used = 0;
    for (uint32_t word = 0; used < width; word++) {
        const uint64_t chance = word ? chance_of(hash, word) : hash;
        const char *next = vocabulary[chance & ((1 << WORD_BITS) - 1)];
        const uint32_t length = (uint32_t)strlen(next), gap = used > 0;
        if (used + gap + length > width)
            break;
        if (gap)
            out[used] = ' ';
        memcpy(out + used + gap, next, length);
        used += gap + length;
    }
    if (used == 0) { /* narrower than the word drawn */
        const char letter = (char)('a' + hash % 26);
        out[0] = (uint8_t)letter;
        used = 1;
    }
    return used;
}

static uint32_t quoted(char *out, uint32_t width, uint64_t hash)
{
    uint8_t text[TAG_TEXT_MAX];
    const uint32_t most = width < 64 ? width : 64; /* a tag is a name, not a document */
    const uint32_t length = text_vocabulary(text, most, hash);
    return (uint32_t)snprintf(out, TAG_TEXT_MAX, "'%.*s'", (int)length, (const char *)text);
}

uint32_t values_tag(const struct spec *spec, const struct schema *schema, uint32_t tag,
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
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "'{\"group\":%u,\"place\":\"%s\"}'",
                                  (unsigned)(hash % 10), vocabulary[(hash >> 8) & 31]);
    default:
        return (uint32_t)snprintf(out, TAG_TEXT_MAX, "%lld",
                                  (long long)column->low + (long long)whole);
    }
}
