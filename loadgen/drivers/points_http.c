/* The driver of databases that take points; points.h and posts.h have how.
 * Methods: `put`, points one by one as JSON over HTTP; `datapoints`, points by series; `gzip`,
 * the same compressed; `telnet`, points one by one as lines over a bare connection without answers.
 * Options:
 *   write_path=/api/put?sync  where they are posted; times are as `precision` of the spec says
 *   in_seconds=1              but in whole seconds
 *   query_path=, query_posted=, query_plain=, answer_rows=, answer_column=: as of lines_http.c */
#include <stdlib.h>

#include "numbers.h"
#include "points.h"
#include "posts.h"

static void drop(void *form)
{
    points_free(form);
    free(form);
}

static void *make(const struct driver_setup *setup, enum points_form form, struct fault *fault)
{
    const struct spec *spec = setup->spec;
    const uint32_t count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    const struct column *lacking = points_lack(setup->schema, (uint32_t)spec->partial_from, count);
    if (lacking) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: points have no number for %s:%s",
                  lacking->name, type_name(lacking->type));
        return NULL;
    }
    uint64_t in_seconds = 0;
    char why[160];
    if (!spec_option_whole(spec, "in_seconds", 0, 1, &in_seconds, why, sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return NULL;
    }
    struct points *points = malloc(sizeof *points);
    if (points && points_init(points, form, in_seconds, spec, setup->schema,
                              spec->table ? spec->table : "measurement"))
        return points;
    fault_no_memory(fault);
    if (points)
        drop(points);
    return NULL;
}

static void *make_put(const struct driver_setup *setup, struct fault *fault)
{
    return make(setup, POINTS_PUT, fault);
}

static void *make_series(const struct driver_setup *setup, struct fault *fault)
{
    return make(setup, POINTS_SERIES, fault);
}

static void *make_telnet(const struct driver_setup *setup, struct fault *fault)
{
    return make(setup, POINTS_TELNET, fault);
}

static uint64_t row_bytes(const void *form, uint32_t first_column, uint32_t column_count)
{
    return points_row_bytes(form, first_column, column_count);
}

static void begin(void *place)
{
    struct point_place *p = place;
    p->slice = p->column = p->row = 0;
}

static char *put(const void *form, const struct batch *batch, void *place, char *out, uint64_t room,
                 uint32_t *rows)
{
    return points_put(form, batch, place, out, room, rows);
}

static size_t name(const void *form, uint32_t table, char out[DRIVER_NAME_MAX])
{
    (void)form;
    out[0] = 'd';
    return (size_t)(numbers_put_unsigned(out + 1, table) - out);
}

#define JSON "Content-Type: application/json\r\n"
#define GZIP "Content-Type: application/gzip\r\n" /* as KairosDB names JSON that is compressed */
#define FORM(its_header, its_path, its_port, its_make, ...)                                        \
    {.header = its_header,                                                                         \
     .path = its_path,                                                                             \
     .port = its_port,                                                                             \
     .name = name,                                                                                 \
     .place_bytes = sizeof(struct point_place),                                                    \
     .make = its_make,                                                                             \
     .drop = drop,                                                                                 \
     .row_bytes = row_bytes,                                                                       \
     .begin = begin,                                                                               \
     .put = put,                                                                                   \
     __VA_ARGS__}

static const struct driver_method methods[] = {
    {"put", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     &(const struct post_form)FORM(JSON, "/api/put", 4242, make_put, .packing = NULL)},
    {"datapoints", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     &(const struct post_form)FORM(JSON, "/api/v1/datapoints", 8080, make_series, .packing = NULL)},
    {"gzip", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     &(const struct post_form)FORM(GZIP, "/api/v1/datapoints", 8080, make_series,
                                   .packing = &packing_gzip)},
    {"telnet", FEATURE_DEADLINE | FEATURE_SEPARABLE | FEATURE_UNANSWERED,
     &(const struct post_form)FORM("", "", 4242, make_telnet, .is_unanswered = true)},
    {NULL, 0, NULL},
};
static const char *const options[] = {"write_path",  "in_seconds",  "query_path",    "query_posted",
                                      "query_plain", "answer_rows", "answer_column", NULL};

extern const struct driver_ops driver_points;
const struct driver_ops driver_points = {
    .abi = DRIVER_ABI,
    .name = "points",
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
