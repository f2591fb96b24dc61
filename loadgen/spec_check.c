/* Checks what keys mean together, without methods and schema. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "first_row.h"
#include "held.h"
#include "schema.h"
#include "spec.h"

int64_t spec_units_per_ms(const struct spec *spec)
{
    switch (spec->precision) {
    case PRECISION_US:
        return 1000;
    case PRECISION_NS:
        return 1000000;
    default:
        return 1;
    }
}

bool spec_option_whole(const struct spec *spec, const char *name, uint64_t least, uint64_t most,
                       uint64_t *value, char *why, uint32_t why_size)
{
    const char *text = spec_option(spec, name);
    char *end;
    if (!text)
        return true;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno || number < least || number > most) {
        snprintf(why, why_size, "%s: '%s' is not a whole number of %" PRIu64 "..%" PRIu64, name,
                 text, least, most);
        return false;
    }
    *value = number;
    return true;
}

static void check_workers(struct spec *spec, struct mistakes *mistakes)
{
    if (spec->workers_total == 0)
        spec->workers_total = spec->first_worker + spec->threads;
    if (spec->first_worker + spec->threads > spec->workers_total)
        mistake_add(mistakes, "workers_total", "%llu is less than first_worker + threads = %llu",
                    (unsigned long long)spec->workers_total,
                    (unsigned long long)(spec->first_worker + spec->threads));
    if (spec->workers_total > spec->tables)
        mistake_add(mistakes, "threads", "%llu workers cannot share %llu tables",
                    (unsigned long long)spec->workers_total, (unsigned long long)spec->tables);
}

static void check_time(const struct spec *spec, struct mistakes *mistakes)
{
    const double units = spec->step_ms * (double)spec_units_per_ms(spec);
    if (units < 1 || fabs(units - round(units)) > 1e-6 * units)
        mistake_add(mistakes, "step_ms", "%g ms is not a whole number of units of the precision",
                    spec->step_ms);
    if ((double)spec->start_ms * (double)spec_units_per_ms(spec) > 9.2e18)
        mistake_add(mistakes, "start_ms", "too late for the precision");
}

static void check_disorder(const struct spec *spec, struct mistakes *mistakes)
{
    if (spec->disorder_mode == DISORDER_SWAP && spec->disorder_ratio > 50)
        mistake_add(mistakes, "disorder_ratio", "%g is outside 0..50: pairs of rows are swapped",
                    spec->disorder_ratio);
    if (spec->disorder_mode == DISORDER_SWAP && spec->disorder_ratio > 0 &&
        (double)spec->disorder_range_ms < spec->step_ms)
        mistake_add(mistakes, "disorder_range_ms", "is less than step_ms: no row can move");
    if (spec->disorder_mode == DISORDER_BATCH && spec->disorder_ratio > 0 &&
        spec->disorder_rows < 2)
        mistake_add(mistakes, "disorder_rows", "is needed with disorder=batch, and is 2 or more");
}

static void check_load(const struct spec *spec, struct mistakes *mistakes)
{
    if (spec->rows == 0 && spec->requests == 0 && spec->duration_s <= 0 && !spec->rounds)
        mistake_add(mistakes, "rows", "one of rows, requests and duration_s is needed");
    if (spec->order == ORDER_PROGRESSIVE && spec->rows == 0 && !spec->rounds)
        mistake_add(mistakes, "order", "progressive needs rows: no table would ever be full");
    if (spec->order == ORDER_PROGRESSIVE && spec->interlace_rows > 0)
        mistake_add(mistakes, "interlace_rows", "cannot be joined with order=progressive");
    if (spec->requests_per_table > 1 &&
        (spec->interlace_rows > 0 || spec->order == ORDER_PROGRESSIVE))
        mistake_add(mistakes, "requests_per_table",
                    "is for requests of one table each, with order=rotate");
    if (spec->interlace_rows > spec->rows_per_request)
        mistake_add(mistakes, "interlace_rows", "is more than rows_per_request");
    first_row_check(spec, mistakes);
    held_check(spec, mistakes);
    if (spec->arrival == ARRIVAL_POISSON && spec->rate <= 0)
        mistake_add(mistakes, "arrival", "poisson needs a rate");
    if (spec->partial_from > 0 && spec->partial_columns == 0)
        mistake_add(mistakes, "partial_from", "needs partial_columns");
}

void spec_check(struct spec *spec, enum verb verb, struct mistakes *mistakes)
{
    if (!spec->driver)
        mistake_add(mistakes, "driver", "is needed");
    if (verb == VERB_SQL || verb == VERB_LIBRARY)
        return;
    check_workers(spec, mistakes);
    check_time(spec, mistakes);
    check_disorder(spec, mistakes);
    if (verb == VERB_LOAD)
        check_load(spec, mistakes);
}
