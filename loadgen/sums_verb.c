/* The verb `sums`: number and sums of rows as the load sends them. It needs no server. */
#include "sums.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "job.h"

enum { CHUNK_ROWS = 4096 };

struct summing {
    struct job *job;
    struct maker *maker;
    struct batch batch;
    struct sums sums; /* sums of the current group */
};

/* "TABLE:FIRST:COUNT" or "TABLE-LAST:FIRST:COUNT": table, last table, first row, count. */
static bool read_item(const char *text, uint64_t numbers[4])
{
    char *end = NULL;
    for (int i = 0; i < 4; i++, text = end + 1) {
        errno = 0;
        if (!isdigit((unsigned char)*text))
            return false;
        numbers[i] = strtoull(text, &end, 10);
        if (i == 0 && *end == ':')
            numbers[++i] = numbers[0];
        if (errno || *end != (i == 0 ? '-' : i < 3 ? ':' : '\0'))
            return false;
    }
    return true;
}

static bool check_item(const struct job *job, const char *item)
{
    struct mistakes mistakes = {0};
    uint64_t numbers[4];
    if (!read_item(item, numbers))
        mistake_add(&mistakes, "sums_of", "'%s' is not TABLE:FIRST:COUNT or TABLE-LAST:FIRST:COUNT",
                    item);
    else if (numbers[0] > numbers[1] || numbers[1] >= job->spec.tables)
        mistake_add(&mistakes, "sums_of", "'%s': there are %" PRIu64 " tables", item,
                    job->spec.tables);
    else if (numbers[2] > 1000000000000000 || numbers[3] > 1000000000000000)
        mistake_add(&mistakes, "sums_of", "'%s': a table has at most 10^15 rows", item);
    return mistakes.count == 0;
}

/* A bit for each place; NULL if no two rows take the same one. */
static uint8_t *new_places(const struct summing *s, uint64_t end)
{
    if (!s->job->spec.sums_distinct || !s->maker->disorder.is_repeating)
        return NULL;
    uint8_t *taken = calloc(end / 8 + 1, 1);
    if (!taken)
        abort();
    return taken;
}

/* The first row with its time. */
static void mark_first(const struct summing *s, uint8_t *taken, uint8_t *is_first)
{
    for (uint32_t i = 0; i < s->batch.rows; i++) {
        const uint64_t place = (uint64_t)((s->batch.times[i] - s->maker->start) / s->maker->step);
        const uint8_t bit = (uint8_t)(1u << (place & 7));
        is_first[i] = !(taken[place >> 3] & bit);
        taken[place >> 3] |= bit;
    }
}

static void add_table(struct summing *s, uint32_t table, uint64_t first, uint64_t count)
{
    uint8_t is_first[CHUNK_ROWS], *taken = new_places(s, first + count);
    for (uint64_t done = 0, n; done < count; done += n) {
        n = count - done < CHUNK_ROWS ? count - done : CHUNK_ROWS;
        s->batch.rows = (uint32_t)n;
        s->batch.slice_count = 1;
        s->batch.slices[0] = (struct slice){table, (uint32_t)n, 0, first + done};
        values_make(s->maker, &s->batch);
        if (taken)
            mark_first(s, taken, is_first);
        sums_add(&s->sums, &s->batch, s->maker->start, taken ? is_first : NULL);
    }
    free(taken);
}

static void add_group(struct summing *s, char *group)
{
    char *item;
    uint64_t numbers[4];
    while ((item = strsep(&group, ",")) != NULL && read_item(item, numbers))
        for (uint64_t table = numbers[0]; table <= numbers[1]; table++)
            add_table(s, (uint32_t)table, numbers[2], numbers[3]);
}

static bool init(struct summing *s)
{
    struct spec *spec = &s->job->spec;
    s->maker = values_open(spec, &s->job->schema, CHUNK_ROWS, spec->null_ratio > 0, &s->batch);
    return s->maker && sums_init(&s->sums, &s->job->schema, (double)spec_units_per_ms(spec),
                                 spec->sums_decimal != 0);
}

static bool check(const struct job *job)
{
    struct mistakes mistakes = {0};
    if (!job->spec.sums_of) {
        mistake_add(&mistakes, "sums_of", "is needed: TABLE:FIRST:COUNT,...;...");
        return false;
    }
    char *copy = strdup(job->spec.sums_of), *item;
    bool ok = copy != NULL;
    for (char *rest = copy; copy && (item = strsep(&rest, ",;")) != NULL;)
        ok &= check_item(job, item);
    free(copy);
    return ok;
}

enum exitcode verb_sums(struct job *job)
{
    struct summing s = {.job = job};
    if (!check(job))
        return EXIT_SPEC;
    char *copy = strdup(job->spec.sums_of), *group;
    const bool ok = copy && init(&s);
    for (char *rest = copy; ok && (group = strsep(&rest, ";")) != NULL;) {
        struct json json;
        sums_clear(&s.sums);
        add_group(&s, group);
        event_begin(&json, "sums");
        sums_put(&s.sums, &json);
        event_end(&json);
    }
    free(copy);
    sums_free(&s.sums);
    if (s.maker)
        values_close(s.maker, &s.batch);
    return ok ? EXIT_DONE : EXIT_INTERNAL;
}
