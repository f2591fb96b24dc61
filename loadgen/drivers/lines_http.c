/* The driver of databases that take the InfluxDB line protocol; posts.h has how.
 * Methods: `http`; `gzip`, the same compressed; `tcp`, over a bare connection without answers.
 * Options:
 *   write_path=/write?db=x  where lines are posted; `precision` of the spec must be what it says
 *   parted=1                table t is of measurement <table>_p<t mod partitions>
 *   query_path=/query?q=    where queries are asked, the text behind it; {device} is d<t>
 *   query_posted=1          texts are posted as JSON to query_path instead
 *   query_plain=            characters of a text that go as they are, not encoded
 *   answer_rows=values      members of an answer that hold rows
 *   answer_column=          strings of an answer that tell which column the next rows are of */
#include <stdio.h>
#include <stdlib.h>

#include "lines.h"
#include "posts.h"

static void drop(void *form)
{
    lines_free(form);
    free(form);
}

static void *make(const struct driver_setup *setup, struct fault *fault)
{
    const struct spec *spec = setup->spec;
    const uint32_t count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    const struct column *lacking = lines_lack(setup->schema, (uint32_t)spec->partial_from, count);
    uint64_t is_parted = 0;
    char why[160];
    if (!spec_option_whole(spec, "parted", 0, 1, &is_parted, why, sizeof why)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
        return NULL;
    }
    if (lacking) {
        fault_set(fault, FAULT_SPEC, "SPEC", "columns: lines have no way to write %s:%s",
                  lacking->name, type_name(lacking->type));
        return NULL;
    }
    struct lines *lines = malloc(sizeof *lines);
    if (lines && lines_init(lines, spec, setup->schema, spec->table ? spec->table : "measurement",
                            is_parted))
        return lines;
    fault_no_memory(fault);
    if (lines)
        drop(lines);
    return NULL;
}

static uint64_t row_bytes(const void *form, uint32_t first_column, uint32_t column_count)
{
    return lines_row_bytes(form, first_column, column_count);
}

static void begin(void *place)
{
    struct line_place *p = place;
    p->slice = p->row = p->ahead.end = 0;
}

static char *put(const void *form, const struct batch *batch, void *place, char *out, uint64_t room,
                 uint32_t *rows)
{
    return lines_put(form, batch, place, out, room, rows);
}

static size_t name(const void *form, uint32_t table, char out[DRIVER_NAME_MAX])
{
    (void)form;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "d%u", (unsigned)table);
}

#define PLAIN "Content-Type: text/plain; charset=utf-8\r\n"
#define FORM(its_port, its_header, ...)                                                            \
    {.header = its_header,                                                                         \
     .path = "/write",                                                                             \
     .port = its_port,                                                                             \
     .name = name,                                                                                 \
     .place_bytes = sizeof(struct line_place),                                                     \
     .make = make,                                                                                 \
     .drop = drop,                                                                                 \
     .row_bytes = row_bytes,                                                                       \
     .begin = begin,                                                                               \
     .put = put,                                                                                   \
     __VA_ARGS__}

static const struct driver_method methods[] = {
    {"http", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     &(const struct post_form)FORM(8086, PLAIN, .packing = NULL)},
    {"gzip", FEATURE_DEADLINE | FEATURE_SEPARABLE,
     &(const struct post_form)FORM(8086, PLAIN "Content-Encoding: gzip\r\n",
                                   .packing = &packing_gzip)},
    {"tcp", FEATURE_DEADLINE | FEATURE_SEPARABLE | FEATURE_UNANSWERED,
     &(const struct post_form)FORM(9009, "", .is_unanswered = true)},
    {NULL, 0, NULL},
};
static const char *const options[] = {"write_path",    "parted",      "query_path",
                                      "query_posted",  "query_plain", "answer_rows",
                                      "answer_column", "auth_scheme", NULL};

extern const struct driver_ops driver_lines;
const struct driver_ops driver_lines = {
    .abi = DRIVER_ABI,
    .name = "lines",
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
    .has_parts = true,
    .check_ask = posts_check_ask,
    .prepare = posts_prepare,
    .ask = posts_ask,
};
