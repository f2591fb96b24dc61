/* See placement.h. owned: worker w has the partitions p with p mod workers == w, or shares
 * partition w mod partitions. stock: ranges of tables, as common tools do. */
#include "placement.h"

#include <stdlib.h>

struct seat { /* a place in the worker's round */
    uint32_t round, partition, table;
};

static uint32_t owner_owned(const struct spec *spec, uint32_t partition, uint32_t nth)
{
    const uint32_t workers = (uint32_t)spec->workers_total;
    const uint32_t partitions = (uint32_t)spec->partitions;
    if (workers <= partitions)
        return partition % workers;
    const uint32_t sharing = (workers - partition + partitions - 1) / partitions;
    return partition + partitions * (nth % sharing);
}

static uint32_t owner_stock(const struct spec *spec, uint32_t table)
{
    const uint64_t each = spec->tables / spec->workers_total;
    const uint64_t more = spec->tables % spec->workers_total, edge = more * (each + 1);
    return (uint32_t)(table < edge ? table / (each + 1) : more + (table - edge) / each);
}

static int by_round(const void *a, const void *b)
{
    const struct seat *x = a, *y = b;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    if (x->partition != y->partition)
        return x->partition < y->partition ? -1 : 1;
    return x->table < y->table ? -1 : x->table > y->table;
}

/* So that successive requests visit a worker's partitions in turn. */
static int arrange(struct share *share, const uint32_t *partition_of, uint32_t partitions)
{
    uint32_t *seen = calloc(partitions, sizeof *seen);
    struct seat *seats = malloc((share->count + 1) * sizeof *seats);
    if (seen && seats) {
        for (uint32_t i = 0; i < share->count; i++) {
            const uint32_t partition = partition_of[share->tables[i]];
            seats[i] = (struct seat){seen[partition]++, partition, share->tables[i]};
        }
        qsort(seats, share->count, sizeof *seats, by_round);
        for (uint32_t i = 0; i < share->count; i++)
            share->tables[i] = seats[i].table;
    }
    const int result = seen && seats ? 0 : -1;
    free(seen);
    free(seats);
    return result;
}

static void deal(const struct spec *spec, const uint32_t *partition_of, uint32_t *nth,
                 struct share *shares, bool fill)
{
    for (uint32_t p = 0; p < spec->partitions; p++)
        nth[p] = 0;
    for (uint32_t i = 0; i < spec->threads; i++)
        shares[i].count = 0;
    for (uint32_t table = 0; table < spec->tables; table++) {
        const uint32_t partition = partition_of[table];
        const uint32_t owner = spec->placement == PLACEMENT_STOCK
                                   ? owner_stock(spec, table)
                                   : owner_owned(spec, partition, nth[partition]++);
        if (owner < spec->first_worker || owner >= spec->first_worker + spec->threads)
            continue;
        struct share *share = &shares[owner - spec->first_worker];
        if (fill)
            share->tables[share->count] = table;
        share->count++;
    }
}

int placement_share(const struct spec *spec, const uint32_t *partition_of, struct share *shares)
{
    uint32_t *nth = calloc(spec->partitions, sizeof *nth);
    int result = nth ? 0 : -1;
    if (nth) {
        deal(spec, partition_of, nth, shares, false);
        for (uint32_t i = 0; i < spec->threads && result == 0; i++) {
            shares[i].tables = calloc(shares[i].count + 1, sizeof(uint32_t));
            result = shares[i].tables ? 0 : -1;
        }
    }
    if (result == 0) {
        deal(spec, partition_of, nth, shares, true);
        for (uint32_t i = 0; i < spec->threads && result == 0; i++)
            if (spec->placement == PLACEMENT_OWNED && spec->order == ORDER_ROTATE)
                result = arrange(&shares[i], partition_of, (uint32_t)spec->partitions);
    }
    free(nth);
    return result;
}

void placement_free(struct share *shares, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(shares[i].tables);
}
