/* See memory.h. */
#include "memory.h"

#include <unistd.h>

#include "batch.h"
#include "placement.h"
#include "trace.h"

struct need {
    const char *key;
    uint64_t bytes;
};

/* Each worker has the rows of one request. */
static uint64_t request_bytes(const struct spec *spec, const struct schema *schema)
{
    const uint32_t columns = spec_column_count(spec, schema->column_count);
    return spec->threads * batch_bytes(schema, spec->rows_per_request, (uint32_t)spec->partial_from,
                                       columns, batch_has_nulls(spec, schema));
}

/* Its partition, place in a share, next row. */
static uint64_t table_bytes(const struct spec *spec)
{
    return spec->tables * (2 * sizeof(uint32_t) + sizeof(uint64_t));
}

static uint64_t trace_bytes(const struct spec *spec)
{
    return spec->trace ? spec->trace_max * sizeof(struct trace_record) : 0;
}

void memory_check(const struct spec *spec, const struct schema *schema, struct mistakes *mistakes)
{
    const uint64_t present = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const struct need needs[] = {{"rows_per_request", request_bytes(spec, schema)},
                                 {"tables", table_bytes(spec)},
                                 {"trace_max", trace_bytes(spec)}};
    const struct need *most = needs;
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        sum += needs[i].bytes;
        most = needs[i].bytes > most->bytes ? &needs[i] : most;
    }
    if (sum > present)
        mistake_add(mistakes, most->key,
                    "the load needs %.1f GiB of memory for %llu workers, the machine has %.1f GiB",
                    (double)sum / (1u << 30), (unsigned long long)spec->threads,
                    (double)present / (1u << 30));
}
