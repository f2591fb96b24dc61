/* The driver of MariaDB, through libmariadb. Methods: `load-data`, LOAD DATA LOCAL of text;
 * `insert`, a prepared statement with arrays. Both replace the row of the same device and time. A
 * table is a device_id from 1 on, in partition t mod partitions. */
#include "mariadb.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPTION_CONNECT_TIMEOUT = 0,
    OPTION_CHARSET = 7,
    OPTION_LOCAL_INFILE = 8,
    OPTION_NONBLOCK = 6000
};

static enum outcome load_library(struct driver *d, struct fault *fault)
{
    return maria_load_library(&d->library, d->setup->spec->library, fault);
}

static enum outcome maria_open(const struct driver_setup *setup, struct driver **driver,
                               struct fault *fault)
{
    struct driver *d = calloc(1, sizeof *d);
    if (!d)
        return fault_no_memory(fault);
    *driver = d;
    d->setup = setup;
    d->table = setup->spec->table ? setup->spec->table : "measurement";
    d->method = *(const enum maria_method *)setup->method->form;
    if (setup->spec->precision != PRECISION_MS)
        return fault_spec(fault, "precision: times are whole milliseconds here");
    return maria_open_rows(d, fault);
}

static void maria_disconnect(struct connection *c)
{
    maria_free_asks(c);
    maria_free_rows(c);
    if (c->mysql)
        c->driver->library.close(c->mysql);
    free(c->text);
    free(c);
}

static enum outcome maria_connect(struct driver *driver, uint32_t worker,
                                  struct connection **connection, struct fault *fault)
{
    const struct spec *spec = driver->setup->spec;
    const struct libmariadb *m = &driver->library;
    const unsigned timeout = (unsigned)ceil(spec->connect_timeout_s), on = 1;
    struct connection *c = calloc(1, sizeof *c);
    (void)worker;
    if (!c || !(c->text = malloc(driver->row_bytes)) || !(c->mysql = m->init(NULL))) {
        if (c)
            free(c->text);
        free(c);
        return fault_no_memory(fault);
    }
    c->driver = driver;
    m->options(c->mysql, OPTION_CONNECT_TIMEOUT, &timeout);
    m->options(c->mysql, OPTION_CHARSET, "utf8mb4");
    m->options(c->mysql, OPTION_LOCAL_INFILE, &on);
    m->options(c->mysql, OPTION_NONBLOCK, NULL);
    maria_take_infile(c);
    if (driver->setup->is_sending_stubbed) {
        *connection = c;
        return OUTCOME_OK;
    }
    if (m->connect(c->mysql, spec->host, spec->user, driver->setup->password, spec->database,
                   (unsigned)spec->port, spec->socket_dir, 0)) {
        *connection = c;
        return OUTCOME_OK;
    }
    fault_set(fault, FAULT_SERVER, "CONNECT", "%s", m->error(c->mysql));
    maria_disconnect(c);
    return OUTCOME_FATAL;
}

static void maria_close(struct driver *driver)
{
    /* The library stays open: it may have registered handlers. */
    free(driver->write);
    free(driver);
}

static size_t maria_table_name(const struct driver *driver, uint32_t table,
                               char out[DRIVER_NAME_MAX])
{
    (void)driver;
    return (size_t)snprintf(out, DRIVER_NAME_MAX, "%" PRIu32, table + 1);
}

static const char *library_path(const struct driver *driver)
{
    return driver->library.path;
}

static const char *library_version(const struct driver *driver)
{
    return driver->library.client_version();
}

static uint64_t row_bytes(const struct driver *driver)
{
    return driver->row_bytes;
}

#define FORM(method) (&(const enum maria_method){method})

static const struct driver_method methods[] = {
    {"load-data", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_LOAD_DATA)},
    {"insert", FEATURE_DEADLINE, FORM(METHOD_INSERT)},
    {NULL, 0, NULL}};

static const char *const options[] = {NULL};

const struct driver_ops driver_mariadb = {
    .abi = DRIVER_ABI,
    .name = "mariadb",
    .methods = methods,
    .options = options,
    .libraries = "libmariadb.so.3",
    .open = maria_open,
    .load_library = load_library,
    .place = driver_place_in_turn,
    .connect = maria_connect,
    .send = maria_send,
    .disconnect = maria_disconnect,
    .close = maria_close,
    .library_path = library_path,
    .library_version = library_version,
    .row_bytes = row_bytes,
    .sql = maria_sql,
    .table_name = maria_table_name,
    .check_ask = maria_check_ask,
    .prepare = maria_prepare,
    .ask = maria_ask,
};
