/* See table_rows.h. */
#include "table_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_MAX = 200000 }; /* with more runs it is left out */

#define NOT_OURS UINT64_MAX

static bool is_known(const struct load *load, const struct worker *workers,
                     const struct totals *totals)
{
    bool known = totals->rows_failed == 0 && totals->rows_unanswered == 0;
    for (uint64_t i = 0; known && i < load->spec->threads; i++)
        known = counter_seen(&workers[i].counters.done);
    return known;
}

/* By the table's number; the caller frees them. */
static uint64_t *rows_by_table(const struct load *load, const struct worker *workers)
{
    uint64_t *rows = malloc(load->spec->tables * sizeof *rows);
    if (!rows)
        abort();
    for (uint64_t t = 0; t < load->spec->tables; t++)
        rows[t] = NOT_OURS;
    for (uint64_t i = 0; load->operations->has_write && i < load->spec->threads; i++)
        for (uint32_t t = 0; t < workers[i].share->count; t++)
            rows[workers[i].share->tables[t]] = workers[i].cursor.next_row[t];
    return rows;
}

static uint64_t run_end(const uint64_t *rows, uint64_t tables, uint64_t first)
{
    uint64_t end = first + 1;
    while (end < tables && rows[end] == rows[first])
        end++;
    return end;
}

static uint64_t count_runs(const uint64_t *rows, uint64_t tables)
{
    uint64_t runs = 0;
    for (uint64_t t = 0; t < tables; t = run_end(rows, tables, t))
        runs += rows[t] != NOT_OURS;
    return runs;
}

static void put_run(struct json *json, uint64_t first, uint64_t tables, uint64_t rows)
{
    char text[80];
    const int length =
        snprintf(text, sizeof text, "[%" PRIu64 ",%" PRIu64 ",%" PRIu64 "]", first, tables, rows);
    json_plain(json, text, (size_t)length);
}

void table_rows_put(struct json *json, const struct load *load, const struct worker *workers,
                    const struct totals *totals)
{
    const uint64_t tables = load->spec->tables;
    uint64_t *rows = is_known(load, workers, totals) ? rows_by_table(load, workers) : NULL;
    if (!rows || count_runs(rows, tables) > RUNS_MAX) {
        json_put_null(json, "table_rows");
        free(rows);
        return;
    }
    json_begin(json, "table_rows", '[');
    for (uint64_t t = 0, end; t < tables; t = end) {
        end = run_end(rows, tables, t);
        if (rows[t] != NOT_OURS)
            put_run(json, t, end - t, rows[t]);
    }
    json_close(json, ']');
    free(rows);
}
