/* Placement: TDengine puts a table into the vgroup whose range holds the hash of its full name.
 * We compute the same hash and choose names, so that every vgroup gets as many tables as any
 * other, or one less; `placement=stock` takes the names as they come. A server that is there
 * must agree, or nothing is loaded. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tdengine.h"

enum { HASH_SEED = 0x12345678, CHECKED_TABLES = 64 };

static uint32_t rotate(uint32_t value, unsigned bits)
{
    return (value << bits) | (value >> (32 - bits));
}

/* MurmurHash3, x86, 32 bits, by Austin Appleby (public domain algorithm). */
static uint32_t murmur3(const uint8_t *bytes, uint32_t length, uint32_t seed)
{
    const uint32_t c1 = 0xcc9e2d51u, c2 = 0x1b873593u;
    uint32_t hash = seed, block;
    for (uint32_t i = 0; i + 4 <= length; i += 4) {
        memcpy(&block, bytes + i, 4);
        hash = rotate(hash ^ rotate(block * c1, 15) * c2, 13) * 5 + 0xe6546b64u;
    }
    const uint8_t *tail = bytes + (length & ~3u);
    block = 0;
    switch (length & 3u) {
    case 3:
        block ^= (uint32_t)tail[2] << 16; /* fallthrough */
    case 2:
        block ^= (uint32_t)tail[1] << 8; /* fallthrough */
    case 1:
        block ^= tail[0];
        hash ^= rotate(block * c1, 15) * c2;
        break;
    default:
        break;
    }
    hash ^= length;
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16);
}

/* Vgroups hold equal ranges of the hash, in the order of their ids. */
static uint32_t partition_of_number(const struct driver *d, uint32_t number)
{
    char name[256];
    const uint32_t partitions = (uint32_t)d->setup->spec->partitions;
    const int length =
        snprintf(name, sizeof name, "1.%s.%s%" PRIu32, d->database, d->prefix, number);
    const uint32_t partition =
        murmur3((const uint8_t *)name, (uint32_t)length, HASH_SEED) / (UINT32_MAX / partitions);
    return partition < partitions ? partition : partitions - 1;
}

uint32_t tdengine_table_name(const struct driver *d, uint32_t table, char *out)
{
    const size_t length = strlen(d->prefix);
    memcpy(out, d->prefix, length);
    char *end = tdengine_put_whole(out + length, d->number_of[table]);
    *end = '\0';
    return (uint32_t)(end - out);
}

/* Table t shall live in partition t mod partitions: hands the numbers 0, 1, 2, ... to the next
 * table of the partition that they fall in, until every table has one. */
static bool choose_names(struct driver *d, uint32_t *partition_of)
{
    const struct spec *spec = d->setup->spec;
    uint32_t *next_table = calloc(spec->partitions, sizeof *next_table);
    uint64_t left = spec->tables;
    if (!next_table)
        return false;
    for (uint32_t p = 0; p < spec->partitions; p++)
        next_table[p] = p;
    for (uint32_t number = 0; left > 0 && number < UINT32_MAX; number++) {
        const uint32_t p = partition_of_number(d, number);
        if (next_table[p] >= spec->tables)
            continue;
        d->number_of[next_table[p]] = number;
        partition_of[next_table[p]] = p;
        next_table[p] += (uint32_t)spec->partitions;
        left--;
    }
    free(next_table);
    return left == 0;
}

static void take_names(struct driver *d, uint32_t *partition_of)
{
    for (uint32_t t = 0; t < d->setup->spec->tables; t++) {
        d->number_of[t] = t;
        partition_of[t] = partition_of_number(d, t);
    }
}

/* Asks the server where some tables live: two tables share a vgroup exactly when we say so. */
static bool server_agrees(struct connection *c, const uint32_t *partition_of, struct fault *fault)
{
    const struct driver *d = c->driver;
    const uint64_t tables = d->setup->spec->tables, partitions = d->setup->spec->partitions;
    int *vgroup_of = calloc(partitions, sizeof *vgroup_of);
    char name[TABLE_NAME_MAX];
    bool agrees = vgroup_of != NULL;
    const uint64_t step = tables > CHECKED_TABLES ? tables / CHECKED_TABLES : 1;
    for (uint64_t t = 0; agrees && t < tables; t += step) {
        int vgroup = 0;
        tdengine_table_name(d, (uint32_t)t, name);
        if (d->taos.table_vgroup(c->taos, d->database, name, &vgroup) != 0)
            continue; /* it knows no such database yet: the load will say so */
        int *known = &vgroup_of[partition_of[t]];
        bool is_new = *known == 0;
        for (uint64_t p = 0; is_new && p < partitions; p++)
            is_new = vgroup_of[p] != vgroup;
        agrees = *known == vgroup || is_new;
        if (!agrees)
            fault_set(fault, FAULT_SERVER, "PLACE",
                      "table %s lives in vgroup %d, our hash says partition %" PRIu32
                      " of %" PRIu64 ": has the database as many vgroups as the spec says?",
                      name, vgroup, partition_of[t], partitions);
        *known = vgroup;
    }
    free(vgroup_of);
    return agrees;
}

enum outcome tdengine_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    extern const struct driver_ops driver_tdengine;
    const struct spec *spec = d->setup->spec;
    struct connection *c = NULL;
    if (!d->database) {
        fault_set(fault, FAULT_SPEC, "DATABASE", "database: missing");
        return OUTCOME_FATAL;
    }
    fault_set(fault, FAULT_SERVER, "MEMORY", "out of memory");
    d->number_of = calloc(spec->tables, sizeof *d->number_of);
    if (!d->number_of)
        return OUTCOME_FATAL;
    if (spec->placement == PLACEMENT_STOCK)
        take_names(d, partition_of);
    else if (!choose_names(d, partition_of))
        return OUTCOME_FATAL;
    if (d->method != METHOD_STMT && d->method != METHOD_SQL)
        return OUTCOME_OK; /* schemaless tables do not exist before their first row */
    if (driver_tdengine.connect(d, 0, &c, fault) != OUTCOME_OK)
        return OUTCOME_FATAL;
    const bool agrees = server_agrees(c, partition_of, fault);
    driver_tdengine.disconnect(c);
    return agrees ? OUTCOME_OK : OUTCOME_FATAL;
}
