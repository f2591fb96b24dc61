/* Sums of rows in any order: their number and times, and of each column's values the sum, least,
 * greatest, and sum of value times time. Whole numbers are summed exactly. */
#ifndef SCALE_SUMS_H
#define SCALE_SUMS_H

#include "json.h"
#include "values.h"

__extension__ typedef __int128 wide;

struct column_sums {
    uint64_t values; /* values that are not NULL */
    wide whole, whole_least, whole_most; /* values; of texts, their lengths in bytes */
    long double real, size;        /* sums of the values, and of their absolute values */
    long double timed, timed_size; /* each value times the ms since the start */
    double least, most;
};

struct sums {
    const struct schema *schema;
    double units_per_ms;
    bool is_decimal; /* a float counts as the double nearest to its decimal */
    uint64_t rows;
    int64_t first, last; /* times in units since the start */
    wide times;
    struct column_sums *columns;
};

bool sums_init(struct sums *sums, const struct schema *schema, double units_per_ms,
               bool is_decimal);
void sums_clear(struct sums *sums);
void sums_free(struct sums *sums);

/* All, or those that `chosen` marks. `start`: in units of the precision. */
void sums_add(struct sums *sums, const struct batch *batch, int64_t start, const uint8_t *chosen);

/* Members of an open object. */
void sums_put(const struct sums *sums, struct json *json);

#endif
