/* See values.h. */
#include <string.h>

#include "chance.h"
#include "values.h"

enum { WORD_BITS = 5 };

static const char *const vocabulary[1 << WORD_BITS] = {
    "Amsterdam",  "Athens", "Berlin", "Bogota", "Boston",    "Brno",   "Cairo",    "Chicago",
    "Copenhagen", "Dakar",  "Delhi",  "Dublin", "Geneva",    "Hanoi",  "Helsinki", "Istanbul",
    "Jakarta",    "Kyoto",  "Lagos",  "Lima",   "Lisbon",    "London", "Madrid",   "Manila",
    "Nairobi",    "Oslo",   "Prague", "Quito",  "Reykjavik", "Seoul",  "Tallinn",  "Vienna",
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

uint32_t text_chinese(uint8_t *out, uint32_t width, uint64_t hash)
{
    enum {
        FIRST = 0x4e00,
        COUNT = 0x9fa5 - 0x4e00,
        BYTES = 3
    }; /* the basic block of CJK characters */
    uint32_t used = 0;
    for (uint32_t i = 0; used + BYTES <= width; i++, used += BYTES) {
        const uint32_t character = FIRST + (uint32_t)(chance_of(hash, i) % COUNT);
        out[used] = (uint8_t)(0xe0 | character >> 12);
        out[used + 1] = (uint8_t)(0x80 | (character >> 6 & 0x3f));
        out[used + 2] = (uint8_t)(0x80 | (character & 0x3f));
    }
    return used;
}
