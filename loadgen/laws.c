/* See laws.h. */
#include "laws.h"

#include <stdlib.h>
#include <string.h>

enum { SHARE_MAX = 1000000 };

static const char *const names[LAW_COUNT] = {"walk", "random", "constant", "line",
                                             "sine", "square", "normal"};

static void read_one(char *name, uint32_t shares[LAW_COUNT], struct mistakes *mistakes)
{
    char *end = "", *share = strchr(name, ':');
    if (share)
        *share++ = '\0';
    const unsigned long number = share ? strtoul(share, &end, 10) : 1;
    int law = 0;
    while (law < LAW_COUNT && strcmp(names[law], name) != 0)
        law++;
    if (law == LAW_COUNT)
        mistake_add(mistakes, "values",
                    "'%s' is none of walk, random, constant, line, sine, square, normal", name);
    else if (*end || (share && (*share < '0' || *share > '9')) || number > SHARE_MAX)
        mistake_add(mistakes, "values", "the share of '%s' is not a whole number of 0..%d", name,
                    SHARE_MAX);
    else if (shares[law])
        mistake_add(mistakes, "values", "'%s' stands there twice", name);
    else
        shares[law] = (uint32_t)number;
}

/* Spread evenly over the shares, also within the columns of each type. */
static enum law pick(const uint32_t shares[LAW_COUNT], uint32_t sum, uint32_t column)
{
    const uint32_t place = (column + 1) * 2654435769u; /* 2^32 by the golden ratio */
    uint64_t at = ((uint64_t)place * sum) >> 32;
    uint32_t law = 0;
    while (at >= shares[law])
        at -= shares[law++];
    return (enum law)law;
}

void laws_read(const char *text, struct schema *schema, struct mistakes *mistakes)
{
    const unsigned before = mistakes->count;
    uint32_t shares[LAW_COUNT] = {0}, sum = 0;
    char *copy = strdup(text), *rest = copy, *item;
    if (!copy)
        abort();
    while ((item = strsep(&rest, ",")) != NULL)
        read_one(item, shares, mistakes);
    free(copy);
    for (int law = 0; law < LAW_COUNT; law++)
        sum += shares[law];
    if (mistakes->count == before && sum == 0)
        mistake_add(mistakes, "values", "all shares are 0");
    for (uint32_t c = 0; mistakes->count == before && c < schema->column_count; c++)
        schema->columns[c].law = pick(shares, sum, c);
}

/* Sine of an angle, 2^32 for a circle; level 0 is -1. An odd polynomial of the series'
 * coefficients, the last one set so that the top is 1; the error is below 4e-6. */
static uint32_t sine_level(uint32_t angle)
{
    enum { ONE_SHIFT = 30 };
    const int64_t one = (int64_t)1 << ONE_SHIFT;
    int64_t y = (int32_t)angle; /* half a circle is 2^31 */
    if (y > one)
        y = 2 * one - y;
    else if (y < -one)
        y = -2 * one - y;
    const int64_t square = (y * y) >> ONE_SHIFT;
    int64_t sum = 168468;
    sum = 5026995 - ((square * sum) >> ONE_SHIFT);
    sum = 85569306 - ((square * sum) >> ONE_SHIFT);
    sum = 693598668 - ((square * sum) >> ONE_SHIFT);
    sum = 1686629713 - ((square * sum) >> ONE_SHIFT);
    const int64_t level = 2 * one + 2 * ((y * sum) >> ONE_SHIFT);
    return level < 0 ? 0 : level > UINT32_MAX ? UINT32_MAX : (uint32_t)level;
}

/* Nearly normal around the middle: the sum of eight even parts (Irwin-Hall), standard deviation
 * 0.102 of the range. */
static uint32_t normal_level(uint64_t hash, uint64_t row)
{
    enum { PARTS = 4, PART_BITS = 16, FINE_BITS = 13 };
    const uint64_t first = chance_of(hash, row), second = chance_of(first, 0);
    uint32_t sum = 0;
    for (unsigned part = 0; part < PARTS; part++)
        sum += ((first >> (part * PART_BITS)) & 0xffff) + ((second >> (part * PART_BITS)) & 0xffff);
    return (sum << FINE_BITS) + (uint32_t)(chance_of(second, 0) >> (64 - FINE_BITS));
}

void laws_normal(const struct piece *pieces, uint32_t count, uint32_t stream, uint32_t *level)
{
    for (uint32_t p = 0; p < count; p++) {
        const uint64_t hash = chance_of(pieces[p].hash, stream);
        for (uint32_t i = 0; i < pieces[p].rows; i++)
            *level++ = normal_level(hash, (uint64_t)pieces[p].row + i);
    }
}

void laws_levels(enum law law, uint32_t period, const struct piece *pieces, uint32_t count,
                 uint32_t stream, uint32_t *level)
{
    const uint64_t step = UINT64_MAX / period; /* a circle is 2^64 */
    for (uint32_t p = 0; p < count; p++) {
        const uint64_t begin = chance_of(pieces[p].hash, stream) % period;
        uint32_t at = (uint32_t)((pieces[p].row + begin) % period);
        for (uint32_t i = 0; i < pieces[p].rows; i++) {
            const uint32_t angle = (uint32_t)((at * step) >> 32);
            *level++ = law == LAW_LINE             ? angle
                       : law == LAW_SINE           ? sine_level(angle)
                       : 2 * (uint64_t)at < period ? UINT32_MAX
                                                   : 0;
            at = at + 1 < period ? at + 1 : 0;
        }
    }
}
