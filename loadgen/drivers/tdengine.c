/* The driver of TDengine 3, through libtaos. Methods: `stmt` (bound columns), `sql` (text) and
 * schemaless lines. A table of the load is a subtable of the supertable `table`; database and
 * supertable are made by others. Options: client_config= (directory of the client's taos.cfg),
 * table_prefix= (d). Rows count when the server says that they are affected. */
#include "tdengine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of enum method. */
static const char *const methods[] = {"stmt", "sql", "sml-line", "sml-telnet", "sml-json", NULL};
static const char *const options[] = {"client_config", "table_prefix", "adapter_port", NULL};

enum { DEFAULT_PORT = 6030, TEXT_BYTES = 1048576 + 65536 };

static enum method method_of(const char *name)
{
    enum method method = METHOD_STMT;
    for (size_t i = 0; name && methods[i]; i++)
        if (strcmp(methods[i], name) == 0)
            method = (enum method)i;
    return method;
}

static enum outcome tdengine_open(const struct driver_setup *setup, struct driver **driver,
                                  struct fault *fault)
{
    const struct spec *spec = setup->spec;
    const char *prefix = spec_option(spec, "table_prefix");
    const char *config = spec_option(spec, "client_config");
    struct driver *d = calloc(1, sizeof *d);
    if (!d) {
        fault_set(fault, FAULT_SERVER, "MEMORY", "out of memory");
        return OUTCOME_FATAL;
    }
    *driver = d;
    d->setup = setup;
    d->method = method_of(spec->method);
    d->database = spec->database;
    d->table = spec->table ? spec->table : "meters";
    d->prefix = prefix ? prefix : "d";
    d->first_column = (uint32_t)spec->partial_from;
    d->column_count =
        spec->partial_columns ? (uint32_t)spec->partial_columns : setup->schema->column_count;
    if (strlen(d->prefix) > TABLE_NAME_MAX - 16) {
        fault_set(fault, FAULT_SPEC, "PREFIX", "table_prefix: more than %d characters",
                  TABLE_NAME_MAX - 16);
        return OUTCOME_FATAL;
    }
    if ((d->method == METHOD_TELNET || d->method == METHOD_JSON) && d->column_count != 1) {
        fault_set(fault, FAULT_SPEC, "COLUMNS",
                  "columns: %s carries one value in a line, the spec has %u columns",
                  spec->method, d->column_count);
        return OUTCOME_FATAL;
    }
    const enum outcome outcome = tdengine_load_library(&d->taos, spec->library, fault);
    if (outcome == OUTCOME_OK && config)
        d->taos.options(TAOS_CONFIG_DIR, config);
    return outcome;
}

/* What passes by itself is worth another try; what a retry cannot mend stops the load. */
static bool is_permanent(int code)
{
    static const int permanent[] = {
        0x0015, 0x0018, /* the server's name does not resolve; the connection is broken */
        0x000B,         /* nothing listens */
        0x012B, 0x012E, /* no space on a disk */
        0x0357,         /* authentication */
    };
    for (size_t i = 0; i < sizeof permanent / sizeof *permanent; i++)
        if (permanent[i] == code)
            return true;
    return false;
}

enum outcome tdengine_fault(int code, const char *words, struct fault *fault)
{
    char text[16];
    const int low = code & 0xffff;
    snprintf(text, sizeof text, "0x%04X", (unsigned)low);
    fault_set(fault, FAULT_SERVER, text, "%s", words && *words ? words : "no words from libtaos");
    return is_permanent(low) ? OUTCOME_FATAL : OUTCOME_ERROR;
}

static void tdengine_disconnect(struct connection *c)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->stmt)
        t->stmt_close(c->stmt);
    if (c->taos)
        t->close(c->taos);
    free(c->binds);
    free(c->text);
    free(c);
}

static enum outcome tdengine_connect(struct driver *d, uint32_t worker,
                                     struct connection **connection, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    const char *password = d->setup->password;
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    fault_set(fault, FAULT_SERVER, "MEMORY", "out of memory");
    if (!c)
        return OUTCOME_FATAL;
    c->driver = d;
    c->text = malloc(TEXT_BYTES);
    c->binds = calloc(d->column_count + 1, sizeof *c->binds);
    if (c->text && c->binds) {
        c->taos = d->taos.connect(spec->host ? spec->host : "localhost",
                                  spec->user ? spec->user : "root",
                                  password && *password ? password : "taosdata", d->database,
                                  (uint16_t)(spec->port ? spec->port : DEFAULT_PORT));
        if (!c->taos)
            tdengine_fault(d->taos.error(NULL), d->taos.error_text(NULL), fault);
        else if (d->method == METHOD_STMT && !(c->stmt = d->taos.stmt_init(c->taos)))
            tdengine_fault(d->taos.error(NULL), d->taos.error_text(NULL), fault);
        else {
            *connection = c;
            return OUTCOME_OK;
        }
    }
    tdengine_disconnect(c);
    return OUTCOME_FATAL;
}

static enum outcome tdengine_send(struct connection *c, const struct batch *batch,
                                  uint64_t *rows_acked, struct fault *fault)
{
    switch (c->driver->method) {
    case METHOD_STMT:
        return tdengine_stmt_send(c, batch, rows_acked, fault);
    case METHOD_SQL:
        return tdengine_sql_send(c, batch, rows_acked, fault);
    default:
        return tdengine_schemaless_send(c, batch, rows_acked, fault);
    }
}

static void tdengine_close(struct driver *d)
{
    /* The library stays open: its threads run on, and the process ends now. */
    free(d->number_of);
    free(d);
}

static const char *library_path(const struct driver *d)
{
    return d->taos.path;
}

static const char *library_version(const struct driver *d)
{
    return d->taos.client_info();
}

extern const struct driver_ops driver_tdengine;
const struct driver_ops driver_tdengine = {
    .abi = DRIVER_ABI,
    .name = "tdengine",
    .methods = methods,
    .options = options,
    .libraries = "libtaos.so, libtaos.so.1",
    .open = tdengine_open,
    .place = tdengine_place,
    .connect = tdengine_connect,
    .send = tdengine_send,
    .disconnect = tdengine_disconnect,
    .close = tdengine_close,
    .library_path = library_path,
    .library_version = library_version,
    .create_tables = tdengine_create_tables,
    .sql = tdengine_sql,
};
