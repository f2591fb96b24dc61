/* Placement: TDengine puts a table into the vgroup whose range holds the hash of its full name.
 * We compute the same hash and choose names, so that every vgroup gets as many tables as any
 * other, or one less; `placement=stock` takes the names as they come. The server must confirm
 * every range and every table, or nothing is loaded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "numbers.h"
#include "taosadapter.h"
#include "tdengine_parts.h"

enum { HASH_SEED = 0x12345678, TABLES_AT_ONCE = 2048 };

static inline uint32_t rotate(uint32_t value, unsigned bits)
{
    return (value << bits) | (value >> (32 - bits));
}

static inline uint32_t scramble(uint32_t block)
{
    return rotate(block * 0xcc9e2d51u, 15) * 0x1b873593u;
}

/* MurmurHash3, x86, 32 bits, by Austin Appleby (public domain algorithm). */
static uint32_t murmur3(const char *bytes, uint32_t length, uint32_t seed)
{
    uint32_t hash = seed, block, tail = 0;
    for (uint32_t i = 0; i + 4 <= length; i += 4) {
        memcpy(&block, bytes + i, 4);
        hash = rotate(hash ^ scramble(block), 13) * 5 + 0xe6546b64u;
    }
    for (uint32_t left = length & 3u; left > 0; left--)
        tail = (tail << 8) | (uint8_t)bytes[(length & ~3u) + left - 1];
    hash ^= scramble(tail) ^ length; /* a tail of nothing adds nothing */
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16);
}

struct hasher { /* of the tables of one database, whose vgroups hold equal ranges */
    char name[TDENGINE_NAME_MAX + TABLE_NAME_MAX + 8];
    uint32_t stem; /* length of "1.<database>.<prefix>" */
    uint32_t partitions, width;
};

static void hasher_init(struct hasher *h, const struct driver *d)
{
    h->stem = (uint32_t)snprintf(h->name, sizeof h->name, "1.%s.%s", d->database, d->prefix);
    h->partitions = (uint32_t)d->setup->spec->partitions;
    h->width = UINT32_MAX / h->partitions;
}

static uint32_t partition_of_number(struct hasher *h, uint32_t number)
{
    const char *end = numbers_put_whole(h->name + h->stem, number);
    const uint32_t partition = murmur3(h->name, (uint32_t)(end - h->name), HASH_SEED) / h->width;
    return partition < h->partitions ? partition : h->partitions - 1;
}

/* Table t shall live in partition t mod partitions: hands the numbers 0, 1, 2, ... to the next
 * table of the partition that they fall in, until every table has one. */
static bool choose_names(struct driver *d, struct hasher *h, uint32_t *partition_of)
{
    const uint32_t tables = (uint32_t)d->setup->spec->tables;
    uint32_t *next_table = calloc(h->partitions, sizeof *next_table);
    uint32_t left = tables;
    d->number_of = calloc(tables, sizeof *d->number_of);
    if (!next_table || !d->number_of) {
        free(next_table);
        return false;
    }
    for (uint32_t p = 0; p < h->partitions; p++)
        next_table[p] = p;
    for (uint32_t number = 0; left > 0 && number < UINT32_MAX; number++) {
        const uint32_t p = partition_of_number(h, number);
        if (next_table[p] >= tables)
            continue;
        d->number_of[next_table[p]] = number;
        partition_of[next_table[p]] = p;
        next_table[p] += h->partitions;
        left--;
    }
    free(next_table);
    return left == 0;
}

static enum outcome differs(const struct driver *d, const char *what, int64_t theirs, int64_t ours,
                            struct fault *fault)
{
    fault_set(fault, FAULT_SERVER, "PLACE",
              "database %s: %s is %" PRId64 " on the server, and %" PRId64 " by our placement",
              d->database, what, theirs, ours);
    return OUTCOME_FATAL;
}

static int by_begin(const void *a, const void *b)
{
    const struct taos_range *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* The server's vgroups against ours, in the order of their ranges. */
static enum outcome confirm_vgroups(const struct driver *d, const struct hasher *h,
                                    struct taos_route *route, struct fault *fault)
{
    char what[64];
    if (route->count != (int32_t)h->partitions)
        return differs(d, "the number of vgroups (partitions= in the spec)", route->count,
                       h->partitions, fault);
    if (route->prefix != 0 || route->suffix != 0)
        return differs(d, "the part of names that is hashed (TABLE_PREFIX, TABLE_SUFFIX)",
                       route->prefix ? route->prefix : route->suffix, 0, fault);
    qsort(route->ranges, h->partitions, sizeof *route->ranges, by_begin);
    for (uint32_t p = 0; p < h->partitions; p++) {
        snprintf(what, sizeof what, "the first hash of vgroup %d", route->ranges[p].vgroup);
        if (route->ranges[p].begin != p * h->width)
            return differs(d, what, route->ranges[p].begin, (int64_t)p * h->width, fault);
    }
    return OUTCOME_OK;
}

struct names { /* of some tables, to ask the server about */
    char text[TABLES_AT_ONCE][TABLE_NAME_MAX];
    const char *pointers[TABLES_AT_ONCE];
    int vgroups[TABLES_AT_ONCE];
};

static enum outcome ask_vgroups(struct connection *c, struct names *names, uint32_t count,
                                struct fault *fault)
{
    const struct driver *d = c->driver;
    const struct libtaos *t = &d->taos;
    if (c->adapter)
        return adapter_table_vgroups(c, names->pointers, count, names->vgroups, fault);
    const int code =
        t->tables_vgroup(c->taos, d->database, names->pointers, (int)count, names->vgroups);
    return code ? tdengine_fault(code, t->error_text(NULL), fault) : OUTCOME_OK;
}

static enum outcome confirm_tables(struct connection *c, const struct taos_route *route,
                                   const uint32_t *partition_of, struct fault *fault)
{
    const uint32_t tables = (uint32_t)c->driver->setup->spec->tables;
    struct names *names = malloc(sizeof *names);
    enum outcome outcome = names ? OUTCOME_OK : fault_no_memory(fault);
    for (uint32_t first = 0, n; outcome == OUTCOME_OK && first < tables; first += n) {
        n = tables - first < TABLES_AT_ONCE ? tables - first : TABLES_AT_ONCE;
        for (uint32_t i = 0; i < n; i++) {
            tdengine_table_name(c->driver, first + i, names->text[i]);
            names->pointers[i] = names->text[i];
        }
        outcome = ask_vgroups(c, names, n, fault);
        for (uint32_t i = 0; outcome == OUTCOME_OK && i < n; i++) {
            char what[TABLE_NAME_MAX + 32];
            const int ours = route->ranges[partition_of[first + i]].vgroup;
            snprintf(what, sizeof what, "the vgroup of table %s", names->text[i]);
            if (names->vgroups[i] != ours)
                outcome = differs(c->driver, what, names->vgroups[i], ours, fault);
        }
    }
    free(names);
    return outcome;
}

static enum outcome ask_route(struct connection *c, struct taos_route *route, struct fault *fault)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->adapter)
        return adapter_route(c, route, fault);
    const int code = t->route(c->taos, c->driver->database, route);
    return code ? tdengine_fault(code, t->error_text(NULL), fault) : OUTCOME_OK;
}

/* With fewer tables than vgroups, partitions may represent tables, and there is no balance to
 * confirm. */
static bool is_free_of_vgroups(const struct driver *d, const struct taos_route *route)
{
    const struct spec *spec = d->setup->spec;
    return spec->partitions == spec->tables && route->count > (int64_t)spec->tables;
}

static enum outcome confirm(struct connection *c, const struct hasher *h,
                            const uint32_t *partition_of, struct fault *fault)
{
    struct taos_route route = {.ranges = NULL};
    enum outcome outcome = ask_route(c, &route, fault);
    if (outcome == OUTCOME_OK && !is_free_of_vgroups(c->driver, &route)) {
        outcome = confirm_vgroups(c->driver, h, &route, fault);
        if (outcome == OUTCOME_OK)
            outcome = confirm_tables(c, &route, partition_of, fault);
    }
    free(route.ranges);
    return outcome;
}

enum outcome tdengine_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    struct connection *c = NULL;
    struct hasher h;
    if (!d->database) {
        fault_set(fault, FAULT_SPEC, "DATABASE", "database: missing");
        return OUTCOME_FATAL;
    }
    hasher_init(&h, d);
    if (spec->placement == PLACEMENT_STOCK)
        for (uint32_t t = 0; t < spec->tables; t++)
            partition_of[t] = partition_of_number(&h, d->first_table + t);
    else if (!choose_names(d, &h, partition_of))
        return fault_no_memory(fault);
    if (d->setup->is_sending_stubbed)
        return OUTCOME_OK;
    enum outcome outcome = tdengine_connect(d, 0, &c, fault);
    if (outcome == OUTCOME_OK) {
        outcome = confirm(c, &h, partition_of, fault);
        tdengine_disconnect(c);
    }
    return outcome == OUTCOME_OK ? OUTCOME_OK : OUTCOME_FATAL;
}
