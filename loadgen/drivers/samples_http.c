/* The driver of databases that take series of samples over HTTP; samples.h and posts.h have how.
 * Methods: `remote-write`, Prometheus' remote write 1.0: protobuf, compressed as a block of snappy;
 * `import`, lines of JSON with the values and the times of a series. Options:
 *   write_path=/api/v1/write  where they are posted; `precision` of the spec must be ms
 *   query_path=, query_posted=, query_plain=, answer_rows=, answer_column=: as of lines_http.c */
#include <stdlib.h>

#include "posts.h"
#include "samples.h"

static void drop(void *form)
{
    samples_free(form);
    free(form);
}

static void *make(const struct driver_setup *setup, const struct samples_form *form,
                  struct fault *fault)
{
    const struct spec *spec = setup->spec;
    const uint32_t count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    const struct column *lacking = samples_lack(setup->schema, (uint32_t)spec->partial_from, count);
    if (lacking) {
        fault_set(fault, FAULT_SPEC, "SPEC",
                  "columns: a sample is a double, which cannot hold %s:%s", lacking->name,
                  type_name(lacking->type));
        return NULL;
    }
    if (spec->precision != PRECISION_MS) {
        fault_set(fault, FAULT_SPEC, "SPEC", "precision: a sample has a time in ms only");
        return NULL;
    }
    struct samples *samples = malloc(sizeof *samples);
    if (samples &&
        samples_init(samples, form, spec, setup->schema, spec->table ? spec->table : "measurement"))
        return samples;
    fault_no_memory(fault);
    if (samples)
        drop(samples);
    return NULL;
}

static void *make_protobuf(const struct driver_setup *setup, struct fault *fault)
{
    return make(setup, &samples_protobuf, fault);
}

static void *make_json(const struct driver_setup *setup, struct fault *fault)
{
    return make(setup, &samples_json, fault);
}

static uint64_t row_bytes(const void *form, uint32_t first_column, uint32_t column_count)
{
    (void)first_column;
    return samples_row_bytes(form, column_count);
}

static void begin(void *place)
{
    struct sample_place *p = place;
    p->slice = p->column = p->row = 0;
}

static char *put(const void *form, const struct batch *batch, void *place, char *out, uint64_t room,
                 uint32_t *rows)
{
    return samples_put(form, batch, place, out, room, rows);
}

static size_t name(const void *form, uint32_t table, char out[DRIVER_NAME_MAX])
{
    (void)form;
    out[0] = 'd';
    return (size_t)(numbers_put_unsigned(out + 1, table) - out);
}

#define FORM(its_path, its_make, its_packing, its_header)                                          \
    {                                                                                              \
        .header = its_header,                                                                      \
        .path = its_path,                                                                          \
        .port = 8428,                                                                              \
        .packing = its_packing,                                                                    \
        .name = name,                                                                              \
        .place_bytes = sizeof(struct sample_place),                                                \
        .make = its_make,                                                                          \
        .drop = drop,                                                                              \
        .row_bytes = row_bytes,                                                                    \
        .begin = begin,                                                                            \
        .put = put,                                                                                \
    }

static const struct driver_method methods[] = {
    {"remote-write", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     &(const struct post_form)FORM(
         "/api/v1/write", make_protobuf, &packing_snappy,
         "Content-Type: application/x-protobuf\r\nContent-Encoding: snappy\r\n"
         "X-Prometheus-Remote-Write-Version: 0.1.0\r\n")},
    {"import", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     &(const struct post_form)FORM("/api/v1/import", make_json, NULL,
                                   "Content-Type: application/json\r\n")},
    {NULL, 0, NULL},
};
static const char *const options[] = {"write_path",  "query_path",  "query_posted",
                                      "query_plain", "answer_rows", "answer_column",
                                      NULL};

extern const struct driver_ops driver_samples;
const struct driver_ops driver_samples = {
    .abi = DRIVER_ABI,
    .name = "samples",
    .methods = methods,
    .options = options,
    .open = posts_open,
    .place = posts_place,
    .connect = posts_connect,
    .send = posts_send,
    .disconnect = posts_disconnect,
    .close = posts_close,
    .row_bytes = posts_row_bytes,
    .table_name = posts_table_name,
    .check_ask = posts_check_ask,
    .prepare = posts_prepare,
    .ask = posts_ask,
};
