/* Rows as lines of the InfluxDB line protocol, without printf on the way:
 *     measurement,device=d7,location=north current=10.1,voltage=221i 1500000000000
 * A table of the load is a series: its number and its tags are the tags of its lines. Where tables
 * are parted, the measurement's name ends with the number of the part. A NULL is left out of its
 * line; a row of nothing but NULLs keeps its first value, for a line without a value is no row. */
#ifndef SCALE_LINES_H
#define SCALE_LINES_H

#include "../batch.h"
#include "../spec.h"
#include "ahead.h"
#include "kept_time.h"

struct lines { /* the names in the lines of all tables; read-only once made */
    const struct spec *spec;
    const struct schema *schema;
    const char *table;   /* the measurement */
    bool is_parted;      /* table t is of measurement <table>_p<t mod partitions> */
    char *heads;         /* of all tables, one behind the other: measurement and tags */
    uint64_t *head_at;   /* tables + 1 */
    uint32_t head_bytes; /* of the longest */
    struct line_field *fields; /* one per column of the schema */
};

struct line_place { /* where the next line comes from; begins as {.slice = 0} */
    uint32_t slice, row; /* row: within the slice */
    struct kept_time time;
    struct ahead ahead;
};

/* NULL, or the first column with a type that lines have no words for. */
const struct column *lines_lack(const struct schema *schema, uint32_t first, uint32_t count);

/* False when memory is short. */
bool lines_init(struct lines *lines, const struct spec *spec, const struct schema *schema,
                const char *table, bool is_parted);
void lines_free(struct lines *lines);

/* The most bytes that one line of these columns takes. */
uint64_t lines_row_bytes(const struct lines *lines, uint32_t first, uint32_t count);

/* Puts lines of the batch from `place` on, as many as fit into `room` bytes; returns the end of the
 * text. The last may be followed by bytes of no meaning within `room`. */
char *lines_put(const struct lines *lines, const struct batch *batch, struct line_place *place,
                char *out, uint64_t room, uint32_t *rows);

#endif
