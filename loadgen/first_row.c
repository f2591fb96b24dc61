/* See first_row.h. */
#include "first_row.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST 1000000000000000ull

struct run {
    uint64_t first, tables, row;
};

/* And the character after it; false: no number up to ROWS_MOST. */
static bool read_number(const char **text, char after, uint64_t *number)
{
    char *end;
    errno = 0;
    if (!isdigit((unsigned char)**text))
        return false;
    *number = strtoull(*text, &end, 10);
    if (errno || *number > ROWS_MOST || (*end != after && *end != '\0'))
        return false;
    *text = *end ? end + 1 : end;
    return *end == after || after == ',';
}

/* Moves `*text` behind the run; false: it is none. */
static bool read_run(const char **text, struct run *run)
{
    return read_number(text, ':', &run->first) && read_number(text, ':', &run->tables) &&
           read_number(text, ',', &run->row);
}

static bool has_runs(const struct spec *spec)
{
    return spec->first_row && strchr(spec->first_row, ':');
}

void first_row_check(const struct spec *spec, struct mistakes *mistakes)
{
    const char *text = spec->first_row;
    struct run run = {0, 0, 0};
    uint64_t tables = 0;
    if (!text)
        return;
    if (spec->rows)
        mistake_add(mistakes, "first_row", "cannot be joined with rows");
    if (!has_runs(spec)) {
        if (!read_number(&text, ',', &run.row) || *text)
            mistake_add(mistakes, "first_row", "'%s' is not a whole number up to 10^15",
                        spec->first_row);
        return;
    }
    while (*text || text[-1] == ',') {
        if (!read_run(&text, &run) || run.first != tables || run.tables > spec->tables) {
            mistake_add(mistakes, "first_row", "'%.40s' has other runs than TABLE:TABLES:ROW,...",
                        spec->first_row);
            return;
        }
        tables += run.tables;
    }
    if (tables != spec->tables)
        mistake_add(mistakes, "first_row", "has %llu tables, and there are %llu",
                    (unsigned long long)tables, (unsigned long long)spec->tables);
}

void first_row_fill(const struct spec *spec, const struct share *share, uint64_t *rows)
{
    const char *text = spec->first_row;
    struct run run = {0, spec->tables, spec->rows_present};
    if (text && !has_runs(spec))
        read_number(&text, ',', &run.row);
    else if (text)
        read_run(&text, &run);
    for (uint32_t i = 0; i < share->count; i++) {
        const uint32_t table = share->tables[i];
        if (table < run.first) { /* a share need not be in the order of the tables */
            text = spec->first_row;
            read_run(&text, &run);
        }
        while (table >= run.first + run.tables)
            read_run(&text, &run);
        rows[i] = run.row;
    }
}
