/* A libtaos without a server: it writes down what it is asked, in order, with every bound value,
 * and fails where it is told to. Told by the environment:
 *   STUB_LOG=FILE        where calls are written, a line each
 *   STUB_FAIL=F:N:C,...  the Nth call of function F (N+: and all after) fails with code C;
 *                        with code 0xFFFF it does not return
 *   STUB_VGROUPS=N       of the database (4); STUB_SHIFT=N vgroup numbers of tables are off by N,
 *   STUB_BEGIN=N         ranges begin so much later; STUB_PREFIX=N TABLE_PREFIX of the database
 *   STUB_SHORT=N         so many rows fewer are acknowledged
 *   STUB_ASSIGNED=N      a consumer has vgroups after so many polls, and messages after that (0)
 *   STUB_MESSAGES=N      for each consumer; STUB_AGE=N their row was written so many ms ago
 * Compiled with -DWITHOUT_<function>, it lacks that function. */
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct bind {
    int type;
    void *buffer;
    uintptr_t buffer_length;
    int32_t *length;
    char *is_null;
    int num;
};
struct range {
    int32_t vgroup;
    uint32_t begin, end;
};
struct route {
    int32_t version;
    int16_t prefix, suffix;
    int8_t method;
    int32_t count;
    struct range *ranges;
};
struct field {
    char name[65];
    int8_t type;
    int32_t bytes;
};
struct statement {
    char table[256];
    int columns, rows, affected, sticky;
};
struct result {
    int code, affected, columns, row, is_message;
    int32_t lengths[3];
    void *values[3];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int last_code;

static long setting(const char *name, long otherwise)
{
    const char *value = getenv(name);
    return value ? strtol(value, NULL, 0) : otherwise;
}

static void told(const char *format, ...)
{
    static FILE *file;
    va_list arguments;
    const char *path = getenv("STUB_LOG");
    if (!path)
        return;
    pthread_mutex_lock(&lock);
    if (!file)
        file = fopen(path, "a");
    va_start(arguments, format);
    vfprintf(file, format, arguments);
    va_end(arguments);
    fflush(file);
    pthread_mutex_unlock(&lock);
}

/* The code that this call of `function` is told to fail with, or 0. */
static int injected(const char *function)
{
    static struct {
        const char *name;
        int calls;
    } seen[32];
    const char *at = getenv("STUB_FAIL");
    int calls = 0, code = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < 32; i++) {
        if (seen[i].name && strcmp(seen[i].name, function) != 0)
            continue;
        seen[i].name = function;
        calls = ++seen[i].calls;
        break;
    }
    pthread_mutex_unlock(&lock);
    for (; at && *at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[64], plus = 0;
        int number = 0;
        unsigned value = 0;
        if (sscanf(at, "%63[^:]:%d:%x", name, &number, &value) != 3)
            sscanf(at, "%63[^:]:%d%c:%x", name, &number, &plus, &value);
        if (strcmp(name, function) == 0 && (calls == number || (plus && calls > number)))
            code = (int)(0x80000000u | value);
    }
    while (code == (int)0x8000FFFFu)
        sleep(1);
    last_code = code;
    return code;
}

static int any; /* what handles point at */

#ifndef WITHOUT_taos_options
int taos_options(int option, const void *value, ...)
{
    told("options %d %s\n", option, (const char *)value);
    return 0;
}
#endif

void *taos_connect(const char *host, const char *user, const char *password, const char *db,
                   uint16_t port)
{
    const char *sml = getenv("TAOS_SML_CHILD_TABLE_NAME");
    told("connect %s %s %s %s %u%s%s\n", host, user, password, db ? db : "-", port,
         sml ? " named by " : "", sml ? sml : "");
    return injected("taos_connect") ? NULL : &any;
}

void taos_close(void *taos)
{
    (void)taos;
    told("close\n");
}

const char *taos_get_client_info(void)
{
    return "3.3.0.0-stub";
}

static struct result *answer(const char *function)
{
    struct result *result = calloc(1, sizeof *result);
    result->code = injected(function);
    return result;
}

/* Rows of INSERT text: parentheses that open before a time. */
static int rows_in(const char *text)
{
    int rows = 0, quoted = 0;
    for (; *text; text++) {
        if (*text == '\\' && text[1])
            text++;
        else if (*text == '\'')
            quoted = !quoted;
        else if (!quoted && *text == '(' && (text[1] == '-' || (text[1] >= '0' && text[1] <= '9')))
            rows++;
    }
    return rows;
}

void *taos_query(void *taos, const char *statement)
{
    static double real = 0.1;
    static int64_t whole = -5;
    struct result *result = answer("taos_query");
    (void)taos;
    told("query %s\n", statement);
    if (strncmp(statement, "SELECT", 6) == 0) {
        result->columns = 3;
        result->values[0] = &whole;
        result->values[1] = &real;
        result->values[2] = "a\"b";
        result->lengths[2] = 3;
    } else if (strncmp(statement, "INSERT", 6) == 0 && !result->code) {
        result->affected = rows_in(statement) - (int)setting("STUB_SHORT", 0);
    }
    return result;
}

int taos_errno(void *result)
{
    return result ? ((struct result *)result)->code : last_code;
}

const char *taos_errstr(void *result)
{
    return taos_errno(result) ? "words of the stub" : "success";
}

int taos_affected_rows(void *result)
{
    return ((struct result *)result)->affected;
}

void taos_free_result(void *result)
{
    free(result);
}

int taos_num_fields(void *result)
{
    return ((struct result *)result)->columns;
}

struct field *taos_fetch_fields(void *result)
{
    static struct field fields[3] = {{"whole", 5, 8}, {"real", 7, 8}, {"text", 8, 20}};
    (void)result;
    return fields;
}

void **taos_fetch_row(void *result)
{
    struct result *r = result;
    r->columns = r->is_message ? 1 : r->columns;
    if (r->row == 2)
        return NULL;
    if (r->row++ == 1)
        r->values[1] = NULL;
    return r->values;
}

int *taos_fetch_lengths(void *result)
{
    return ((struct result *)result)->lengths;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* One block of one row with one BIGINT, 42, or with STUB_AGE the time so many ms ago, and then no
 * more. */
int taos_fetch_raw_block(void *result, int *rows, void **block)
{
    static unsigned char bytes[28 + 5 + 4 + 1 + 8];
    static const int32_t head[] = {1, sizeof bytes, 1, 1};
    static const int32_t width = 8;
    static const int64_t value = 42;
    struct result *r = result;
    memcpy(bytes, head, sizeof head);
    const int64_t written = now_ms() - setting("STUB_AGE", 0);
    bytes[28] = setting("STUB_AGE", 0) ? 9 : 5;
    memcpy(bytes + 29, &width, 4);
    memcpy(bytes + 33, &width, 4);
    memcpy(bytes + 38, setting("STUB_AGE", 0) ? &written : &value, 8);
    r->columns = r->is_message ? 1 : r->columns;
    *rows = r->row++ == 0;
    *block = bytes;
    return 0;
}

static int width_of(int type)
{
    static const int widths[21] = {0, 1, 1, 2, 4, 8, 4, 8, 0, 8, 0, 1, 2, 4, 8};
    return widths[type];
}

static void tell_fixed(char *out, int type, const void *at)
{
    int64_t whole = 0;
    uint64_t positive = 0;
    float single;
    double real;
    if (type == 6) {
        memcpy(&single, at, 4);
        sprintf(out, "%.9g", (double)single);
    } else if (type == 7) {
        memcpy(&real, at, 8);
        sprintf(out, "%.17g", real);
    } else if (type >= 11 || type == 1) {
        memcpy(&positive, at, (size_t)width_of(type));
        sprintf(out, "%llu", (unsigned long long)positive);
    } else {
        memcpy(&whole, at, (size_t)width_of(type));
        const int unused = 64 - 8 * width_of(type);
        sprintf(out, "%lld", (long long)((int64_t)((uint64_t)whole << unused) >> unused));
    }
}

static void tell_text(char *out, int type, const unsigned char *bytes, int length)
{
    for (int i = 0; i < length; i++)
        out += sprintf(out, type == 8 || type == 10 ? "%c" : "%02x", bytes[i]);
    *out = '\0';
}

static void tell_row(const struct statement *s, const struct bind *binds, int row)
{
    static __thread char line[1 << 20];
    char *out = line;
    for (int c = 0; c < s->columns; c++) {
        const struct bind *b = &binds[c];
        *out++ = ',';
        *out = '\0';
        if (b->is_null && b->is_null[row])
            strcpy(out, "NULL");
        else if (width_of(b->type))
            tell_fixed(out, b->type, (char *)b->buffer + (size_t)row * (size_t)width_of(b->type));
        else
            tell_text(out, b->type, (unsigned char *)b->buffer + (size_t)row * b->buffer_length,
                      b->length[row]);
        out += strlen(out);
    }
    told("row %s%s\n", s->table, line);
}

void *taos_stmt_init(void *taos)
{
    (void)taos;
    told("init\n");
    return injected("taos_stmt_init") ? NULL : calloc(1, sizeof(struct statement));
}

/* A failure sticks to the statement until it is prepared again, as in the real library. */
static int step(struct statement *s, const char *function)
{
    const int code = injected(function);
    if (code && !s->sticky)
        s->sticky = code;
    return s->sticky;
}

int taos_stmt_prepare(void *stmt, const char *sql, unsigned long length)
{
    struct statement *s = stmt;
    *s = (struct statement){.sticky = 0};
    for (const char *c = sql; *c; c++)
        s->columns += *c == '?';
    s->columns--; /* the table */
    told("prepare %.*s\n", (int)length, sql);
    return step(s, "taos_stmt_prepare");
}

int taos_stmt_set_tbname(void *stmt, const char *name)
{
    struct statement *s = stmt;
    snprintf(s->table, sizeof s->table, "%s", name);
    told("table %s\n", name);
    return step(s, "taos_stmt_set_tbname");
}

int taos_stmt_bind_param_batch(void *stmt, struct bind *binds)
{
    struct statement *s = stmt;
    const int code = step(s, "taos_stmt_bind_param_batch");
    told("bind %d types", binds[0].num);
    for (int c = 0; c < s->columns; c++)
        told(" %d", binds[c].type);
    told("\n");
    for (int row = 0; !code && row < binds[0].num; row++)
        tell_row(s, binds, row);
    if (!code)
        s->rows += binds[0].num;
    return binds[0].num > 32767 ? (int)0x80000118 : code;
}

int taos_stmt_add_batch(void *stmt)
{
    told("add\n");
    return step(stmt, "taos_stmt_add_batch");
}

#ifndef WITHOUT_taos_stmt_execute
int taos_stmt_execute(void *stmt)
{
    struct statement *s = stmt;
    const int code = step(s, "taos_stmt_execute");
    told("execute\n");
    s->affected = code ? 0 : s->rows - (int)setting("STUB_SHORT", 0);
    s->rows = 0;
    return code;
}
#endif

int taos_stmt_affected_rows_once(void *stmt)
{
    return ((struct statement *)stmt)->affected;
}

char *taos_stmt_errstr(void *stmt)
{
    (void)stmt;
    return "words of the stub";
}

int taos_stmt_close(void *stmt)
{
    free(stmt);
    return 0;
}

#ifndef WITHOUT_taos_schemaless_insert_raw
void *taos_schemaless_insert_raw(void *taos, char *lines, int length, int32_t *rows, int protocol,
                                 int precision)
{
    struct result *result = answer("taos_schemaless_insert_raw");
    const char *mark = protocol == 3 ? "\"metric\"" : "\n";
    (void)taos;
    *rows = 0;
    for (const char *at = lines; (at = strstr(at, mark)) != NULL; at++)
        ++*rows;
    told("schemaless %d %d %d\n%.*s%s", protocol, precision, *rows, length, lines,
         protocol == 3 ? "\n" : "");
    result->affected = result->code ? 0 : *rows - (int)setting("STUB_SHORT", 0);
    return result;
}
#endif

/* The server's own hash of a name, written apart from the driver's. */
static uint32_t murmur(const unsigned char *key, size_t length)
{
    uint32_t h = 0x12345678, k;
    size_t i = 0;
    for (; i + 4 <= length; i += 4) {
        k = (uint32_t)key[i] | (uint32_t)key[i + 1] << 8 | (uint32_t)key[i + 2] << 16 |
            (uint32_t)key[i + 3] << 24;
        k *= 0xcc9e2d51;
        k = k << 15 | k >> 17;
        h ^= k * 0x1b873593;
        h = h << 13 | h >> 19;
        h = h * 5 + 0xe6546b64;
    }
    k = 0;
    for (size_t j = length; j > i; j--)
        k = k << 8 | key[j - 1];
    k *= 0xcc9e2d51;
    k = k << 15 | k >> 17;
    h ^= k * 0x1b873593;
    h ^= (uint32_t)length;
    h ^= h >> 16;
    h *= 0x85ebca6b;
    h ^= h >> 13;
    h *= 0xc2b2ae35;
    return h ^ h >> 16;
}

int taos_get_db_route_info(void *taos, const char *db, struct route *route)
{
    const uint32_t count = (uint32_t)setting("STUB_VGROUPS", 4), width = UINT32_MAX / count;
    const int code = injected("taos_get_db_route_info");
    (void)taos;
    told("route %s\n", db);
    *route = (struct route){.prefix = (int16_t)setting("STUB_PREFIX", 0), .count = (int32_t)count};
    if (code)
        return code;
    route->ranges = calloc(count, sizeof *route->ranges);
    for (uint32_t i = 0; i < count; i++) /* backwards: the order says nothing */
        route->ranges[count - 1 - i] =
            (struct range){(int32_t)i + 2, width * i + (i ? (uint32_t)setting("STUB_BEGIN", 0) : 0),
                           i + 1 < count ? width * (i + 1) - 1 : UINT32_MAX};
    return 0;
}

int taos_get_tables_vgId(void *taos, const char *db, const char **tables, int count, int *vgroups)
{
    const uint32_t of = (uint32_t)setting("STUB_VGROUPS", 4);
    const int code = injected("taos_get_tables_vgId");
    char name[512];
    (void)taos;
    told("vgroups of %d tables\n", count);
    for (int i = 0; i < count; i++) {
        const int length = snprintf(name, sizeof name, "1.%s.%s", db, tables[i]);
        const uint32_t n = murmur((unsigned char *)name, (size_t)length) / (UINT32_MAX / of);
        vgroups[i] = (int)(n < of ? n : of - 1) + 2 + (int)setting("STUB_SHIFT", 0);
    }
    return code;
}

/* Consumers: a settings object, a list of topics, and messages that are results. */

struct consumer {
    int number, polls;
};

void *tmq_conf_new(void)
{
    return calloc(1, 1);
}

int tmq_conf_set(void *conf, const char *key, const char *value)
{
    (void)conf;
    told("conf %s=%s\n", key, strcmp(key, "td.connect.pass") == 0 ? "hidden" : value);
    return strcmp(key, "bogus") == 0 ? -2 : 0;
}

void tmq_conf_destroy(void *conf)
{
    free(conf);
}

void *tmq_list_new(void)
{
    return calloc(1, 1);
}

int32_t tmq_list_append(void *list, const char *topic)
{
    (void)list;
    told("topic %s\n", topic);
    return 0;
}

void tmq_list_destroy(void *list)
{
    free(list);
}

void *tmq_consumer_new(void *conf, char *why, int32_t why_size)
{
    (void)conf;
    (void)why;
    (void)why_size;
    return calloc(1, sizeof(struct consumer));
}

int32_t tmq_consumer_close(void *consumer)
{
    told("close\n");
    free(consumer);
    return 0;
}

#ifndef WITHOUT_tmq_subscribe
int32_t tmq_subscribe(void *consumer, const void *list)
{
    struct result *result = answer("tmq_subscribe");
    const int code = result->code;
    (void)consumer;
    (void)list;
    free(result);
    return code;
}
#endif

void *tmq_consumer_poll(void *consumer, int64_t ms)
{
    struct consumer *c = consumer;
    told("poll %lld\n", (long long)ms);
    const long without = setting("STUB_ASSIGNED", 0);
    const int polls = c->polls++;
    if (polls < without || polls >= without + setting("STUB_MESSAGES", 0)) {
        usleep((useconds_t)ms * 1000);
        return NULL;
    }
    static int64_t whole = -5;
    struct result *result = answer("tmq_consumer_poll");
    result->is_message = 1; /* and has its column with the first row */
    result->values[0] = &whole;
    return result;
}

int32_t tmq_get_topic_assignment(void *consumer, const char *topic, void **list, int32_t *count)
{
    const struct consumer *c = consumer;
    (void)topic;
    *count = c->polls > setting("STUB_ASSIGNED", 0);
    *list = *count ? malloc(32) : NULL;
    return *count ? 0 : (int32_t)0x80004009;
}

void tmq_free_assignment(void *list)
{
    free(list);
}

int32_t tmq_commit_sync(void *consumer, const void *message)
{
    (void)consumer;
    (void)message;
    told("commit\n");
    return 0;
}

int tmq_get_res_type(void *message)
{
    (void)message;
    return 1;
}

const char *tmq_err2str(int32_t code)
{
    (void)code;
    return "words of the stub";
}

int taos_result_precision(void *result)
{
    (void)result;
    return 0;
}
