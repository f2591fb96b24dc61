/* Placement: asks the server's own hash in which partition each device_id falls, and chooses
 * ids so that every partition gets as many tables as any other, or one less. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

enum { PAGE_IDS = 8192, PAGES_MAX = 200000 };

/* One SELECT, with a row at least; NULL after telling the fault. */
static PGresult *select_rows(struct connection *c, const char *query, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    PGresult *result = p->exec(c->conn, query);
    const bool has_rows = p->result_status(result) == RES_TUPLES;
    if (has_rows && p->row_count(result) > 0 && p->column_count(result) > 0)
        return result;
    if (has_rows)
        fault_set(fault, FAULT_SERVER, "PLACE", "the server answered no rows: %.100s", query);
    else
        postgres_fault(p, c->conn, result, fault);
    p->clear(result);
    return NULL;
}

/* The number of leaves of a hash-partitioned table, 0 for a plain table. */
static bool count_leaves(struct connection *c, uint64_t *leaves, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    char query[512];
    snprintf(query, sizeof query,
             "SELECT count(i.inhrelid) FROM pg_class c"
             " LEFT JOIN pg_partitioned_table t ON t.partrelid = c.oid AND t.partstrat = 'h'"
             " LEFT JOIN pg_inherits i ON i.inhparent = t.partrelid"
             " WHERE c.oid = '%s'::regclass",
             c->driver->table);
    PGresult *result = select_rows(c, query, fault);
    if (!result)
        return false;
    *leaves = strtoull(p->value(result, 0, 0), NULL, 10);
    p->clear(result);
    return true;
}

static bool page_of_ids(struct connection *c, uint64_t first_id, uint64_t partitions,
                        uint32_t *partition_of_id, struct fault *fault)
{
    const struct libpq *p = &c->driver->libpq;
    char query[512];
    snprintf(query, sizeof query,
             "SELECT (SELECT r FROM generate_series(0, %" PRIu64 ") r WHERE"
             " satisfies_hash_partition('%s'::regclass, %" PRIu64 ", r, d) LIMIT 1)"
             " FROM generate_series(%" PRIu64 "::int4, %" PRIu64 "::int4) d ORDER BY d",
             partitions - 1, c->driver->table, partitions, first_id, first_id + PAGE_IDS - 1);
    PGresult *result = select_rows(c, query, fault);
    if (!result)
        return false;
    const int rows = p->row_count(result);
    for (int i = 0; i < rows && i < PAGE_IDS; i++)
        partition_of_id[i] = (uint32_t)strtoul(p->value(result, i, 0), NULL, 10);
    p->clear(result);
    if (rows != PAGE_IDS)
        fault_set(fault, FAULT_SERVER, "PLACE", "the server answered %d rows for %d device ids",
                  rows, PAGE_IDS);
    return rows == PAGE_IDS;
}

/* Table t shall live in partition t mod partitions: gives each partition's ids, in their order,
 * to its tables. next_table[p] is the next table of partition p that has no id. */
static bool choose_ids(struct connection *c, uint32_t *next_table, struct fault *fault)
{
    const struct spec *spec = c->driver->setup->spec;
    uint32_t *device_of = c->driver->device_of;
    uint32_t *page = malloc(PAGE_IDS * sizeof *page);
    uint64_t left = spec->tables;
    bool ok = page != NULL;
    for (uint32_t p = 0; p < spec->partitions; p++)
        next_table[p] = p;
    for (uint64_t n = 0; ok && left > 0 && n < PAGES_MAX; n++) {
        const uint64_t first_id = 1 + n * PAGE_IDS;
        ok = page_of_ids(c, first_id, spec->partitions, page, fault);
        for (uint32_t i = 0; ok && i < PAGE_IDS && left > 0; i++) {
            const uint32_t partition = page[i];
            if (partition >= spec->partitions || next_table[partition] >= spec->tables)
                continue;
            device_of[next_table[partition]] = (uint32_t)(first_id + i);
            next_table[partition] += (uint32_t)spec->partitions;
            left--;
        }
    }
    if (ok && left > 0) {
        fault_set(fault, FAULT_SERVER, "PLACE", "no device ids found for %" PRIu64 " tables", left);
        ok = false;
    }
    free(page);
    return ok;
}

static bool place_with(struct connection *c, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = c->driver->setup->spec;
    uint64_t leaves = 0;
    if (!count_leaves(c, &leaves, fault))
        return false;
    if (leaves != spec->partitions && !(leaves == 0 && spec->partitions == 1)) {
        fault_set(fault, FAULT_SERVER, "PLACE",
                  "table %s has %" PRIu64 " hash partitions, the spec says partitions=%" PRIu64,
                  c->driver->table, leaves, spec->partitions);
        return false;
    }
    for (uint32_t t = 0; t < spec->tables; t++) {
        partition_of[t] = t % (uint32_t)spec->partitions;
        c->driver->device_of[t] = t + 1;
    }
    if (leaves == 0)
        return true;
    uint32_t *next_table = calloc(spec->partitions, sizeof *next_table);
    const bool ok = next_table && choose_ids(c, next_table, fault);
    free(next_table);
    return ok;
}

/* Without a server: as evenly as the server would place them. */
static void place_anywhere(struct driver *driver, uint32_t *partition_of)
{
    const struct spec *spec = driver->setup->spec;
    for (uint32_t t = 0; t < spec->tables; t++) {
        driver->device_of[t] = t + 1;
        partition_of[t] = (uint32_t)(t % spec->partitions);
    }
}

enum outcome postgres_place(struct driver *driver, uint32_t *partition_of, struct fault *fault)
{
    struct connection *c = NULL;
    fault_no_memory(fault);
    driver->device_of = calloc(driver->setup->spec->tables, sizeof *driver->device_of);
    if (driver->device_of && driver->setup->is_sending_stubbed) {
        place_anywhere(driver, partition_of);
        return OUTCOME_OK;
    }
    if (!driver->device_of || postgres_connect(driver, 0, &c, fault) != OUTCOME_OK)
        return OUTCOME_FATAL;
    const bool ok = place_with(c, partition_of, fault);
    postgres_disconnect(c);
    return ok ? OUTCOME_OK : OUTCOME_FATAL;
}
