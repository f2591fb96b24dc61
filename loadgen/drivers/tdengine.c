/* The driver of TDengine 3: loading libtaos, connections, placement, creating tables. A table of
 * the load is a subtable of the supertable `table`, which exists. tdengine_write.c sends rows by
 * `stmt` (bound columns), `sql` and schemaless lines; taosadapter.c by `rest` and `ws`.
 * docs/tdengine-driver.md has options and error codes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tags.h"
#include "library.h"
#include "numbers.h"
#include "taosadapter.h"
#include "tdengine.h"

/* The second binding interface, taos_stmt2_*, is newer than 3.3.0.0 and is not used. */

static enum outcome tdengine_load_library(struct libtaos *t, const char *wanted,
                                          struct fault *fault)
{
    static const char *const usual[] = {"libtaos.so", "libtaos.so.1", NULL};
    const struct symbol symbols[] = {
        {"taos_options", &t->options},
        {"taos_connect", &t->connect},
        {"taos_close", &t->close},
        {"taos_get_client_info", &t->client_info},
        {"taos_query", &t->query},
        {"taos_errno", &t->error},
        {"taos_errstr", &t->error_text},
        {"taos_affected_rows", &t->affected},
        {"taos_free_result", &t->free_result},
        {"taos_num_fields", &t->field_count},
        {"taos_fetch_fields", &t->fields},
        {"taos_fetch_row", &t->fetch_row},
        {"taos_fetch_lengths", &t->lengths},
        {"taos_fetch_raw_block", &t->fetch_block},
        {"taos_get_db_route_info", &t->route},
        {"taos_get_tables_vgId", &t->tables_vgroup},
        {"taos_stmt_init", &t->stmt_init},
        {"taos_stmt_prepare", &t->stmt_prepare},
        {"taos_stmt_set_tbname", &t->stmt_table},
        {"taos_stmt_bind_param_batch", &t->stmt_bind},
        {"taos_stmt_add_batch", &t->stmt_add},
        {"taos_stmt_execute", &t->stmt_execute},
        {"taos_stmt_affected_rows_once", &t->stmt_affected},
        {"taos_stmt_errstr", &t->stmt_error},
        {"taos_stmt_close", &t->stmt_close},
        {"taos_schemaless_insert_raw", &t->schemaless},
    };
    t->handle =
        library_open(wanted, usual, "install TDengine's client, or name it with library=", fault);
    if (!t->handle || !library_find(t->handle, symbols, sizeof symbols / sizeof *symbols,
                                    ": is it libtaos of TDengine 3?", fault))
        return OUTCOME_FATAL;
    library_path_of(&t->connect, t->path, sizeof t->path);
    return OUTCOME_OK;
}

enum { TEXT_BYTES = 1048576 + 65536 };

static void tdengine_disconnect(struct connection *c)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->stmt)
        t->stmt_close(c->stmt);
    if (c->taos)
        t->close(c->taos);
    if (c->adapter)
        adapter_disconnect(c);
    topics_disconnect(c);
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        free(c->asks[i]);
    free(c->binds);
    free(c->text);
    free(c);
}

static enum outcome open_native(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    const struct libtaos *t = &d->taos;
    c->taos = t->connect(d->host, d->user, d->password, d->database, d->port);
    if (!c->taos) {
        tdengine_fault(t->error(NULL), t->error_text(NULL), fault);
        return OUTCOME_FATAL;
    }
    return OUTCOME_OK;
}

static enum outcome tdengine_connect(struct driver *d, uint32_t worker,
                                     struct connection **connection, struct fault *fault)
{
    struct connection *c = calloc(1, sizeof *c);
    enum outcome outcome = OUTCOME_OK;
    if (!c)
        return fault_no_memory(fault);
    c->driver = d;
    c->text = malloc(TEXT_BYTES);
    c->binds = calloc(d->column_count + 1, sizeof *c->binds);
    if (!c->text || !c->binds)
        outcome = fault_no_memory(fault);
    else if (d->method == METHOD_REST || d->method == METHOD_WS)
        outcome = adapter_connect(c, fault);
    else if (d->method == METHOD_TMQ)
        outcome = topics_connect(c, worker, fault);
    else
        outcome = open_native(c, fault);
    if (outcome == OUTCOME_OK)
        *connection = c;
    else
        tdengine_disconnect(c);
    return outcome;
}

/* Placement. TDengine puts a table into the vgroup whose range holds the hash of its full name.
 * Names are chosen so that vgroups have equal numbers of tables, give or take one; with
 * `placement=stock` in order. The server must confirm every range and table. */

enum { HASH_SEED = 0x12345678, TABLES_AT_ONCE = 2048 };

static inline uint32_t rotate(uint32_t value, unsigned bits)
{
    return (value << bits) | (value >> (32 - bits));
}

static inline uint32_t scramble(uint32_t block)
{
    return rotate(block * 0xcc9e2d51u, 15) * 0x1b873593u;
}

/* MurmurHash3, x86, 32 bits, by Austin Appleby (public domain algorithm). */
static uint32_t murmur3(const char *bytes, uint32_t length, uint32_t seed)
{
    uint32_t hash = seed, block, tail = 0;
    for (uint32_t i = 0; i + 4 <= length; i += 4) {
        memcpy(&block, bytes + i, 4);
        hash = rotate(hash ^ scramble(block), 13) * 5 + 0xe6546b64u;
    }
    for (uint32_t left = length & 3u; left > 0; left--)
        tail = (tail << 8) | (uint8_t)bytes[(length & ~3u) + left - 1];
    hash ^= scramble(tail) ^ length; /* zero if there is no tail */
    hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
    hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
    return hash ^ (hash >> 16);
}

struct hasher { /* hash ranges of one database; its vgroups hold equal ones */
    char name[TDENGINE_NAME_MAX + TABLE_NAME_MAX + 8];
    uint32_t stem; /* length of "1.<database>.<prefix>" */
    uint32_t partitions, width;
};

static void hasher_init(struct hasher *h, const struct driver *d)
{
    h->stem = (uint32_t)snprintf(h->name, sizeof h->name, "1.%s.%s", d->database, d->prefix);
    h->partitions = (uint32_t)d->setup->spec->partitions;
    h->width = UINT32_MAX / h->partitions;
}

static uint32_t partition_of_number(struct hasher *h, uint32_t number)
{
    const char *end = put_whole(h->name + h->stem, number);
    const uint32_t partition = murmur3(h->name, (uint32_t)(end - h->name), HASH_SEED) / h->width;
    return partition < h->partitions ? partition : h->partitions - 1;
}

/* Table t gets the next of 0, 1, 2, ... whose partition is t mod partitions. */
static bool choose_names(struct driver *d, struct hasher *h, uint32_t *partition_of)
{
    const uint32_t tables = (uint32_t)d->setup->spec->tables;
    uint32_t *next_table = calloc(h->partitions, sizeof *next_table);
    uint32_t left = tables;
    d->number_of = calloc(tables, sizeof *d->number_of);
    if (!next_table || !d->number_of) {
        free(next_table);
        return false;
    }
    for (uint32_t p = 0; p < h->partitions; p++)
        next_table[p] = p;
    for (uint32_t number = 0; left > 0 && number < UINT32_MAX; number++) {
        const uint32_t p = partition_of_number(h, number);
        if (next_table[p] >= tables)
            continue;
        d->number_of[next_table[p]] = number;
        partition_of[next_table[p]] = p;
        next_table[p] += h->partitions;
        left--;
    }
    free(next_table);
    return left == 0;
}

static enum outcome differs(const struct driver *d, const char *what, int64_t theirs, int64_t ours,
                            struct fault *fault)
{
    fault_set(fault, FAULT_SERVER, "PLACE",
              "database %s: %s is %" PRId64 " on the server, and %" PRId64 " by our placement",
              d->database, what, theirs, ours);
    return OUTCOME_FATAL;
}

static int by_begin(const void *a, const void *b)
{
    const struct taos_range *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static enum outcome confirm_vgroups(const struct driver *d, const struct hasher *h,
                                    struct taos_route *route, struct fault *fault)
{
    char what[64];
    if (route->count != (int32_t)h->partitions)
        return differs(d, "the number of vgroups (partitions= in the spec)", route->count,
                       h->partitions, fault);
    if (route->prefix != 0 || route->suffix != 0)
        return differs(d, "the part of names that is hashed (TABLE_PREFIX, TABLE_SUFFIX)",
                       route->prefix ? route->prefix : route->suffix, 0, fault);
    qsort(route->ranges, h->partitions, sizeof *route->ranges, by_begin);
    for (uint32_t p = 0; p < h->partitions; p++) {
        snprintf(what, sizeof what, "the first hash of vgroup %d", route->ranges[p].vgroup);
        if (route->ranges[p].begin != p * h->width)
            return differs(d, what, route->ranges[p].begin, (int64_t)p * h->width, fault);
    }
    return OUTCOME_OK;
}

struct names { /* tables whose vgroups the server is asked for */
    char text[TABLES_AT_ONCE][TABLE_NAME_MAX];
    const char *pointers[TABLES_AT_ONCE];
    int vgroups[TABLES_AT_ONCE];
};

static enum outcome ask_vgroups(struct connection *c, struct names *names, uint32_t count,
                                struct fault *fault)
{
    const struct driver *d = c->driver;
    const struct libtaos *t = &d->taos;
    if (c->adapter)
        return adapter_table_vgroups(c, names->pointers, count, names->vgroups, fault);
    const int code =
        t->tables_vgroup(c->taos, d->database, names->pointers, (int)count, names->vgroups);
    return code ? tdengine_fault(code, t->error_text(NULL), fault) : OUTCOME_OK;
}

static enum outcome confirm_tables(struct connection *c, const struct taos_route *route,
                                   const uint32_t *partition_of, struct fault *fault)
{
    const uint32_t tables = (uint32_t)c->driver->setup->spec->tables;
    struct names *names = malloc(sizeof *names);
    enum outcome outcome = names ? OUTCOME_OK : fault_no_memory(fault);
    for (uint32_t first = 0, n; outcome == OUTCOME_OK && first < tables; first += n) {
        n = tables - first < TABLES_AT_ONCE ? tables - first : TABLES_AT_ONCE;
        for (uint32_t i = 0; i < n; i++) {
            tdengine_table_name(c->driver, first + i, names->text[i]);
            names->pointers[i] = names->text[i];
        }
        outcome = ask_vgroups(c, names, n, fault);
        for (uint32_t i = 0; outcome == OUTCOME_OK && i < n; i++) {
            char what[TABLE_NAME_MAX + 32];
            const int ours = route->ranges[partition_of[first + i]].vgroup;
            snprintf(what, sizeof what, "the vgroup of table %s", names->text[i]);
            if (names->vgroups[i] != ours)
                outcome = differs(c->driver, what, names->vgroups[i], ours, fault);
        }
    }
    free(names);
    return outcome;
}

static enum outcome ask_route(struct connection *c, struct taos_route *route, struct fault *fault)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->adapter)
        return adapter_route(c, route, fault);
    const int code = t->route(c->taos, c->driver->database, route);
    return code ? tdengine_fault(code, t->error_text(NULL), fault) : OUTCOME_OK;
}

/* With fewer tables than vgroups there is no balance to confirm. */
static bool is_free_of_vgroups(const struct driver *d, const struct taos_route *route)
{
    const struct spec *spec = d->setup->spec;
    return spec->partitions == spec->tables && route->count > (int64_t)spec->tables;
}

static enum outcome confirm(struct connection *c, const struct hasher *h,
                            const uint32_t *partition_of, struct fault *fault)
{
    struct taos_route route = {.ranges = NULL};
    enum outcome outcome = ask_route(c, &route, fault);
    if (outcome == OUTCOME_OK && !is_free_of_vgroups(c->driver, &route)) {
        outcome = confirm_vgroups(c->driver, h, &route, fault);
        if (outcome == OUTCOME_OK)
            outcome = confirm_tables(c, &route, partition_of, fault);
    }
    free(route.ranges);
    return outcome;
}

static enum outcome tdengine_place(struct driver *d, uint32_t *partition_of, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    struct connection *c = NULL;
    struct hasher h;
    if (!d->database) {
        fault_set(fault, FAULT_SPEC, "DATABASE", "database: missing");
        return OUTCOME_FATAL;
    }
    hasher_init(&h, d);
    if (spec->placement == PLACEMENT_STOCK)
        for (uint32_t t = 0; t < spec->tables; t++)
            partition_of[t] = partition_of_number(&h, d->first_table + t);
    else if (!choose_names(d, &h, partition_of))
        return fault_no_memory(fault);
    if (d->setup->is_sending_stubbed)
        return OUTCOME_OK;
    enum outcome outcome = tdengine_connect(d, 0, &c, fault);
    if (outcome == OUTCOME_OK) {
        outcome = confirm(c, &h, partition_of, fault);
        tdengine_disconnect(c);
    }
    return outcome == OUTCOME_OK ? OUTCOME_OK : OUTCOME_FATAL;
}

enum { STATEMENT_BYTES = 65536, TABLES_PER_STATEMENT = 500 };

/* Returns the length of " IF NOT EXISTS d7 USING meters TAGS (...)", 0 if it does not fit. */
static uint32_t put_table(const struct driver *d, uint32_t table, char *out, uint32_t room)
{
    const struct schema *schema = d->setup->schema;
    char name[TABLE_NAME_MAX], tag[TAG_TEXT_MAX];
    tdengine_table_name(d, table, name);
    uint32_t used = (uint32_t)snprintf(out, room, " IF NOT EXISTS `%s`.`%s` USING `%s`.`%s` TAGS (",
                                       d->database, name, d->database, d->table);
    for (uint32_t i = 0; i < schema->tag_count && used < room; i++) {
        tag_literal(d->setup->spec, schema, i, table, tag);
        used += (uint32_t)snprintf(out + used, room - used, "%s%s", i ? "," : "", tag);
    }
    if (used + 2 >= room)
        return 0;
    out[used++] = ')';
    return used;
}

static enum outcome tdengine_create_tables(struct connection *c, uint32_t first, uint32_t count,
                                           struct fault *fault)
{
    static const char head[] = "CREATE TABLE";
    const uint32_t end = first + count;
    enum outcome outcome = OUTCOME_OK;
    memcpy(c->text, head, sizeof head - 1);
    for (uint32_t table = first; table < end && outcome == OUTCOME_OK;) {
        uint32_t used = sizeof head - 1;
        for (uint32_t n = 0; table < end && n < TABLES_PER_STATEMENT; n++, table++) {
            const uint32_t more = put_table(c->driver, table, c->text + used, SQL_BYTES_MAX - used);
            if (more == 0 || used + more > STATEMENT_BYTES) {
                if (n == 0 && more == 0) {
                    fault_set(fault, FAULT_SPEC, "TAGS", "tags: the statement grows too long");
                    return OUTCOME_FATAL;
                }
                if (n > 0)
                    break;
            }
            used += more;
        }
        c->text[used] = '\0';
        outcome = tdengine_run(c, c->text, NULL, fault);
    }
    return outcome;
}

#define FORM(its_method) (&(const enum method){its_method})

static const struct driver_method methods[] = {
    {"stmt", 0, FORM(METHOD_STMT)}, /* cannot be interrupted, and encodes inside its own send */
    {"sql", 0, FORM(METHOD_SQL)},
    {"sml-line", 0, FORM(METHOD_LINE)},
    {"sml-telnet", 0, FORM(METHOD_TELNET)},
    {"sml-json", 0, FORM(METHOD_JSON)},
    {"rest", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_REST)},
    {"ws", FEATURE_DEADLINE | FEATURE_SEPARABLE, FORM(METHOD_WS)},
    {"tmq", FEATURE_SUBSCRIBES, FORM(METHOD_TMQ)},
    {NULL, 0, NULL}};

static const char *const options[] = {
    "client_config", "table_prefix",    "adapter_port", "consumer",    "poll_ms",     "assign_ms",
    "expect_rows",   "commit_messages", "row_times",    "first_table", "auto_create", NULL};

enum { DEFAULT_PORT = 6030, ADAPTER_ABOVE = 11 };

static bool is_schemaless(enum method method)
{
    return method == METHOD_LINE || method == METHOD_TELNET || method == METHOD_JSON;
}

static enum outcome check(const struct driver *d, struct fault *fault)
{
    const struct schema *schema = d->setup->schema;
    if (strlen(d->prefix) > TABLE_NAME_MAX - 16)
        return fault_spec(fault, "table_prefix: more than %d characters", TABLE_NAME_MAX - 16);
    if (d->database && strlen(d->database) > TDENGINE_NAME_MAX) {
        fault_set(fault, FAULT_SPEC, "DATABASE", "database: too long");
        return OUTCOME_FATAL;
    }
    if ((d->method == METHOD_TELNET || d->method == METHOD_JSON) && d->column_count != 1)
        return fault_spec(
            fault,
            "columns: %s carries one value in a line, the spec has %u; partial_columns=1 "
            "takes one of them",
            d->setup->spec->method, d->column_count);
    if (d->method == METHOD_TELNET && d->setup->spec->precision != PRECISION_MS)
        return fault_spec(fault, "precision: sml-telnet has times in ms only");
    if (d->method == METHOD_JSON && d->setup->spec->precision == PRECISION_NS)
        return fault_spec(
            fault, "precision: libtaos reads times of sml-json as doubles, which cannot hold ns");
    if ((d->method == METHOD_TELNET || d->method == METHOD_JSON) && d->setup->spec->null_ratio > 0)
        return fault_spec(fault, "null_ratio: %s has no NULL", d->setup->spec->method);
    for (uint32_t i = d->first_column; i < d->first_column + d->column_count; i++)
        if (is_schemaless(d->method) && !tdengine_schemaless_has(d->method, &schema->columns[i]))
            return fault_spec(fault, "columns: %s has no way to write %s:%s",
                              d->setup->spec->method, schema->columns[i].name,
                              type_name(schema->columns[i].type));
    return OUTCOME_OK;
}

/* Which tables belong to this process, and whether insertions create them. */
static bool read_tables(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    const char *why = NULL;
    uint64_t first = 0, creates = 0;
    if (!driver_option(spec, "first_table", 0, UINT32_MAX / 2, &first, fault) ||
        !driver_option(spec, "auto_create", 0, 1, &creates, fault))
        return false;
    if (first && spec->placement != PLACEMENT_STOCK)
        why = "first_table: needs placement=stock";
    else if (creates && d->method != METHOD_STMT && d->method != METHOD_SQL &&
             d->method != METHOD_REST)
        why = "auto_create: is for the methods stmt, sql and rest";
    else if (creates && d->method == METHOD_STMT && spec->interlace_rows)
        why = "interlace_rows: with auto_create, a statement has one table";
    d->first_table = (uint32_t)first;
    d->creates = creates;
    return !why || fault_spec(fault, "%s", why) == OUTCOME_OK;
}

static enum outcome load_library(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    const char *config = spec_option(spec, "client_config");
    if (d->method == METHOD_REST || d->method == METHOD_WS)
        return OUTCOME_OK;
    if (is_schemaless(d->method)) /* libtaos reads it when it starts */
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
    d->column_count = spec_column_count(spec, setup->schema->column_count);
    uint64_t port = d->port + (uint64_t)ADAPTER_ABOVE;
    if (!driver_option(spec, "adapter_port", 1, 65535, &port, fault))
        return OUTCOME_FATAL;
    d->adapter_port = (uint16_t)port;
    if (!read_tables(d, fault) || check(d, fault) != OUTCOME_OK)
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
    /* The library stays open: its threads continue. */
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

static uint64_t row_bytes(const struct driver *d)
{
    uint64_t bytes = sizeof(int64_t);
    for (uint32_t i = d->first_column; i < d->first_column + d->column_count; i++)
        bytes += d->setup->schema->columns[i].width;
    return bytes;
}

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
    .table_name = tdengine_table_name,
    .check_ask = tdengine_check_ask,
    .prepare = tdengine_prepare,
    .ask = tdengine_ask,
};
