/* The driver of TDengine 3: through libtaos the methods `stmt` (bound columns), `sql` (text) and
 * schemaless lines, through taosAdapter `rest` and `ws`. A table of the load is a subtable of
 * the supertable `table`; database and supertable are made by others. Rows count when the server
 * says that they are written. docs/tdengine-driver.md has the options and the error codes. */
#include "tdengine_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "taosadapter.h"
#include "taosadapter_parts.h"
#include "tdengine_ask.h"
#include "tdengine_topics.h"

#define FORM(its_method) (&(const enum method){its_method})
static const struct driver_method methods[] = {
    {"stmt", 0,
     FORM(METHOD_STMT)}, /* libtaos cannot be interrupted, and encodes inside of its own send */
    {"sql", 0, FORM(METHOD_SQL)},
    {"sml-line", 0, FORM(METHOD_LINE)},
    {"sml-telnet", 0, FORM(METHOD_TELNET)},
    {"sml-json", 0, FORM(METHOD_JSON)},
    {"rest", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_REST)},
    {"ws", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_WS)},
    {"tmq", FEATURE_SUBSCRIBES, FORM(METHOD_TMQ)},
    {NULL, 0, NULL}};
static const char *const options[] = {
    "client_config",   "table_prefix", "adapter_port", "consumer",    "poll_ms", "expect_rows",
    "commit_messages", "row_times",    "first_table",  "auto_create", NULL};

enum { DEFAULT_PORT = 6030, ADAPTER_ABOVE = 11 };

static bool is_schemaless(enum method method)
{
    return method == METHOD_LINE || method == METHOD_TELNET || method == METHOD_JSON;
}

/* What the spec asks for and this driver cannot do. */
static enum outcome check(const struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    if (strlen(d->prefix) > TABLE_NAME_MAX - 16) {
        fault_set(fault, FAULT_SPEC, "SPEC", "table_prefix: more than %d characters",
                  TABLE_NAME_MAX - 16);
        return OUTCOME_FATAL;
    }
    if (d->database && strlen(d->database) > TDENGINE_NAME_MAX) {
        fault_set(fault, FAULT_SPEC, "DATABASE", "database: too long");
        return OUTCOME_FATAL;
    }
    if ((d->method == METHOD_TELNET || d->method == METHOD_JSON) && d->column_count != 1) {
        fault_set(fault, FAULT_SPEC, "SPEC",
                  "columns: %s carries one value in a line, the spec has %u; partial_columns=1 "
                  "takes one of them",
                  d->setup->spec->method, d->column_count);
        return OUTCOME_FATAL;
    }
    if (d->method == METHOD_TELNET && d->setup->spec->precision != PRECISION_MS) {
        fault_set(fault, FAULT_SPEC, "SPEC", "precision: sml-telnet has times in ms only");
        return OUTCOME_FATAL;
    }
    if (d->method == METHOD_JSON && d->setup->spec->precision == PRECISION_NS) {
        fault_set(fault, FAULT_SPEC, "SPEC",
                  "precision: libtaos reads times of sml-json as doubles, which cannot hold ns");
        return OUTCOME_FATAL;
    }
    if ((d->method == METHOD_TELNET || d->method == METHOD_JSON) &&
        d->setup->spec->null_ratio > 0) {
        fault_set(fault, FAULT_SPEC, "SPEC", "null_ratio: %s has no NULL", d->setup->spec->method);
        return OUTCOME_FATAL;
    }
    for (uint32_t i = d->first_column; i < d->first_column + d->column_count; i++)
        if (is_schemaless(d->method) && !tdengine_schemaless_has(d->method, &schema->columns[i])) {
            fault_set(fault, FAULT_SPEC, "SPEC", "columns: %s has no way to write %s:%s",
                      d->setup->spec->method, schema->columns[i].name,
                      type_name(schema->columns[i].type));
            return OUTCOME_FATAL;
        }
    return OUTCOME_OK;
}

/* Which tables are ours, and whether insertions make them. */
static bool read_tables(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    char why[160] = "";
    uint64_t first = 0, creates = 0;
    const bool can_create =
        d->method == METHOD_STMT || d->method == METHOD_SQL || d->method == METHOD_REST;
    if (spec_option_whole(spec, "first_table", 0, UINT32_MAX / 2, &first, why, sizeof why) &&
        spec_option_whole(spec, "auto_create", 0, 1, &creates, why, sizeof why)) {
        if (first && spec->placement != PLACEMENT_STOCK)
            snprintf(why, sizeof why, "first_table: needs placement=stock");
        else if (creates && !can_create)
            snprintf(why, sizeof why, "auto_create: is for the methods stmt, sql and rest");
        else if (creates && d->method == METHOD_STMT && spec->interlace_rows)
            snprintf(why, sizeof why,
                     "interlace_rows: with auto_create, a statement has one table");
    }
    if (*why)
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
    d->first_table = (uint32_t)first;
    d->creates = creates;
    return !*why;
}

static bool read_port(struct driver *d, struct fault *fault)
{
    char why[160];
    uint64_t port = d->port + (uint64_t)ADAPTER_ABOVE;
    const bool ok =
        spec_option_whole(d->setup->spec, "adapter_port", 1, 65535, &port, why, sizeof why);
    if (!ok)
        fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
    d->adapter_port = (uint16_t)port;
    return ok;
}

static enum outcome load_library(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    const char *config = spec_option(spec, "client_config");
    if (d->method == METHOD_REST || d->method == METHOD_WS)
        return OUTCOME_OK;
    if (is_schemaless(d->method)) /* read by libtaos when it starts */
        setenv("TAOS_SML_CHILD_TABLE_NAME", TDENGINE_NAME_TAG, 1);
    const enum outcome outcome = tdengine_load_library(&d->taos, spec->library, fault);
    if (outcome == OUTCOME_OK && config)
        d->taos.options(TAOS_CONFIG_DIR, config);
    if (outcome == OUTCOME_OK && d->method == METHOD_TMQ)
        return topics_load_library(d, fault);
    return outcome;
}

static enum outcome tdengine_open(const struct driver_setup *setup, struct driver **driver,
                                  struct fault *fault)
{
    const struct spec *spec = setup->spec;
    const char *prefix = spec_option(spec, "table_prefix");
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->method = *(const enum method *)setup->method->form;
    d->database = spec->database;
    d->table = spec->table ? spec->table : "meters";
    d->prefix = prefix ? prefix : "d";
    d->host = spec->host ? spec->host : "localhost";
    d->user = spec->user ? spec->user : "root";
    d->password = setup->password && *setup->password ? setup->password : "taosdata";
    d->port = spec->port ? (uint16_t)spec->port : DEFAULT_PORT;
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    if (!read_port(d, fault) || !read_tables(d, fault) || check(d, fault) != OUTCOME_OK)
        return OUTCOME_FATAL;
    return d->method == METHOD_TMQ ? topics_open(d, fault) : OUTCOME_OK;
}

static enum outcome tdengine_send(struct connection *c, const struct batch *batch,
                                  uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault)
{
    if (c->adapter)
        adapter_deadline(c, deadline_ns);
    switch (c->driver->method) {
    case METHOD_STMT:
        return tdengine_stmt_send(c, batch, rows_acked, fault);
    case METHOD_WS:
        return adapter_ws_send(c, batch, rows_acked, fault);
    case METHOD_SQL:
    case METHOD_REST:
        return tdengine_sql_send(c, batch, rows_acked, fault);
    default:
        return tdengine_schemaless_send(c, batch, rows_acked, fault);
    }
}

static void tdengine_close(struct driver *d)
{
    /* The library stays open: its threads run on, and the process ends now. */
    topics_free_library(d);
    free(d->number_of);
    free(d);
}

static const char *library_path(const struct driver *d)
{
    return d->taos.handle ? d->taos.path : NULL;
}

static const char *library_version(const struct driver *d)
{
    return d->taos.handle ? d->taos.client_info() : NULL;
}

static size_t table_name(const struct driver *d, uint32_t table, char out[DRIVER_NAME_MAX])
{
    return tdengine_table_name(d, table, out);
}

static uint64_t row_bytes(const struct driver *d)
{
    uint64_t bytes = sizeof(int64_t);
    for (uint32_t i = d->first_column; i < d->first_column + d->column_count; i++)
        bytes += d->setup->schema->columns[i].width;
    return bytes;
}

extern const struct driver_ops driver_tdengine;
const struct driver_ops driver_tdengine = {
    .abi = DRIVER_ABI,
    .name = "tdengine",
    .methods = methods,
    .options = options,
    .libraries = "libtaos.so, libtaos.so.1",
    .open = tdengine_open,
    .load_library = load_library,
    .place = tdengine_place,
    .connect = tdengine_connect,
    .send = tdengine_send,
    .disconnect = tdengine_disconnect,
    .close = tdengine_close,
    .library_path = library_path,
    .library_version = library_version,
    .row_bytes = row_bytes,
    .create_tables = tdengine_create_tables,
    .sql = tdengine_sql,
    .table_name = table_name,
    .check_ask = tdengine_check_ask,
    .prepare = tdengine_prepare,
    .ask = tdengine_ask,
};
