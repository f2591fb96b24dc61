/* Rows as points, one for each column of a row, as text, without printf on the way. Three forms:
 *     PUT     {"metric":"m_current","tags":{"device":"d7"},"timestamp":1500000000000,"value":10.1}
 *     SERIES  {"name":"m_current","tags":{"device":"d7"},"datapoints":[[1500000000000,10.1],...]}
 *     TELNET  put m_current 1500000000000 10.1 device=d7
 * A table of the load is a series: its number and its tags are the tags of its points. Characters
 * that such databases have no place for in a tag become "_". A boolean is 0 or 1; a number of a
 * column of fractions always has its point, for these databases keep whole numbers apart. A NULL is
 * left out; a row of nothing but NULLs keeps its first value. */
#ifndef SCALE_POINTS_H
#define SCALE_POINTS_H

#include "../batch.h"
#include "../spec.h"
#include "kept_time.h"

enum points_form { POINTS_PUT, POINTS_SERIES, POINTS_TELNET };

struct points { /* the names in the points of all tables; read-only once made */
    const struct spec *spec;
    const struct schema *schema;
    enum points_form form;
    int64_t divisor;   /* of a time before it is written: 1, or that to whole seconds */
    char *tags;        /* of all tables, one behind the other: "device":"d7","groupid":"3" */
    uint64_t *tags_at; /* tables + 1 */
    uint32_t tags_bytes; /* of the longest */
    struct point_name *names; /* one per column of the schema */
};

struct point_place { /* where the next point comes from */
    uint32_t slice, column, row; /* row: within the slice; column: within the request */
    struct kept_time time;
};

/* NULL, or the first column with a type that points have no numbers for. */
const struct column *points_lack(const struct schema *schema, uint32_t first, uint32_t count);

/* False when memory is short. */
bool points_init(struct points *points, enum points_form form, bool in_seconds,
                 const struct spec *spec, const struct schema *schema, const char *measurement);
void points_free(struct points *points);

/* The most bytes that the points of one row take, and the brackets around them. */
uint64_t points_row_bytes(const struct points *points, uint32_t first, uint32_t count);

/* Puts points of the batch from `place` on, as many as fit into `room` bytes, column by column of
 * each slice; returns the end of the text, `out` where all that is left are NULLs. *rows: those
 * whose last column was put. */
char *points_put(const struct points *points, const struct batch *batch, struct point_place *place,
                 char *out, uint64_t room, uint32_t *rows);

#endif
