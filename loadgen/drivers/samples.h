/* Rows as series of samples, without printf on the way: each column of a table is a series, and
 * each of its values is a sample, a double with its time in milliseconds. Two forms:
 *     samples_protobuf  the WriteRequest of Prometheus' remote write 1.0:
 *                       message TimeSeries { repeated Label labels = 1; repeated Sample samples =
 * 2; } message Label { string name = 1, value = 2; } message Sample { double value = 1; int64
 * timestamp = 2; } samples_json
 * {"metric":{"__name__":"m_current","device":"d7"},"values":[10.1,10.2],
 *                       "timestamps":[1500000000000,1500000000001]}, one series in a line
 * The labels of a series are its name, the number of its table and the tags of the table, in the
 * order of their names. A tag without text is left out. Tables of a slice that does not fit into a
 * body go on in the next one. NULLs are left out; a row of nothing but NULLs keeps its first value.
 */
#ifndef SCALE_SAMPLES_H
#define SCALE_SAMPLES_H

#include "../batch.h"
#include "../spec.h"
#include "kept_time.h"

struct run { /* successive rows of one column of one table */
    const struct batch *batch;
    uint32_t column, first, rows; /* first: of the batch */
    const char *labels;           /* encoded; those before the name, and those behind it */
    uint32_t before, behind;
    const char *name; /* the label with the name of the series, encoded */
    uint32_t name_bytes;
    struct kept_time *time;
};

struct samples_form {
    uint32_t frame_bytes;  /* most that a series has beside labels and samples */
    uint32_t sample_bytes; /* most that a sample takes */
    char *(*put_label)(char *out, const char *name, const char *value, size_t length);
    uint32_t (*label_bytes)(size_t name, size_t value); /* the most that a label takes */
    /* Puts the samples of the run as one series; `out` where all of them are left out. */
    char *(*put_run)(const struct run *run, char *out);
};

extern const struct samples_form samples_protobuf, samples_json;

struct samples { /* the labels of all series; read-only once made */
    const struct spec *spec;
    const struct schema *schema;
    const struct samples_form *form;
    char *labels;           /* of all tables, one behind the other */
    uint64_t *labels_at;    /* tables + 1 */
    uint32_t *names_at;     /* of each table: how many bytes of its labels are before the name */
    uint32_t labels_bytes;  /* of the longest, with the name */
    struct sample_name *names; /* one per column of the schema */
};

struct sample_place { /* where the next sample comes from; begins as {.slice = 0} */
    uint32_t slice, column, row; /* row: within the slice; column: within the request */
    struct kept_time time;
};

/* NULL, or the first column with a type that a double does not hold. */
const struct column *samples_lack(const struct schema *schema, uint32_t first, uint32_t count);

/* False when memory is short. */
bool samples_init(struct samples *samples, const struct samples_form *form, const struct spec *spec,
                  const struct schema *schema, const char *measurement);
void samples_free(struct samples *samples);

/* The most bytes that the samples of one row take, each with its series. */
uint64_t samples_row_bytes(const struct samples *samples, uint32_t count);

/* Puts samples of the batch from `place` on, as many as fit into `room` bytes, column by column of
 * each slice; returns the end of the text, `out` where all that is left are NULLs. *rows: those
 * whose last column was put. */
char *samples_put(const struct samples *samples, const struct batch *batch,
                  struct sample_place *place, char *out, uint64_t room, uint32_t *rows);

#endif
