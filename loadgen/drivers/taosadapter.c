/* taosAdapter by REST: statements, their answers, and where tables live; see taosadapter.h. The
 * WebSocket is taosadapter_ws.c's. A broken connection is opened again at the next request. */
#include "taosadapter.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../deadline.h"
#include "taosadapter_answer.h"
#include "taosadapter_parts.h"

static bool build_authorization(struct adapter *a, const struct driver *d)
{
    char plain[256], coded[400];
    const int length = snprintf(plain, sizeof plain, "%s:%s", d->user, d->password);
    if (length < 0 || (size_t)length >= sizeof plain ||
        http_base64_bytes((size_t)length) > sizeof coded)
        return false;
    http_base64(coded, plain, (size_t)length);
    snprintf(a->headers, sizeof a->headers, "Authorization: Basic %s\r\n", coded);
    return true;
}

/* "/rest/sql/<database>": bytes that a path may not hold are written as %XX. */
static void build_path(struct adapter *a, const char *database)
{
    size_t used = (size_t)snprintf(a->path, sizeof a->path, "/rest/sql%s", database ? "/" : "");
    for (; database && *database && used + 4 < sizeof a->path; database++) {
        const char c = *database;
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
        used += (size_t)snprintf(a->path + used, sizeof a->path - used, is_plain ? "%c" : "%%%02X",
                                 (unsigned char)c);
    }
}

/* Posts `body`; the reply's body is then the JSON text of a success. */
static enum outcome post_to(struct connection *c, const char *path, const char *body, size_t length,
                            struct http_reply *reply, struct fault *fault)
{
    const struct driver *d = c->driver;
    struct adapter *a = c->adapter;
    if (a->rest.fd < 0 && !stream_open(&a->rest, d->host, d->adapter_port))
        return adapter_broken(&a->rest, fault);
    if (!http_post(&a->rest, d->host, path, a->headers, body, length, reply))
        return adapter_broken(&a->rest, fault);
    return adapter_answer(reply->body, reply->status, "desc", fault);
}

static enum outcome post(struct connection *c, const char *path, const char *body, size_t length,
                         char **answer, struct fault *fault)
{
    struct http_reply reply = {.body = NULL};
    const enum outcome outcome = post_to(c, path, body, length, &reply, fault);
    *answer = reply.body;
    return outcome;
}

enum outcome adapter_post(struct connection *c, const char *statement, size_t length, char **answer,
                          size_t *bytes, struct fault *fault)
{
    struct http_reply reply = {.body = NULL};
    const enum outcome outcome = post_to(c, c->adapter->path, statement, length, &reply, fault);
    *answer = reply.body;
    *bytes = reply.length;
    return outcome;
}

enum outcome adapter_connect(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    static const char hello[] = "SELECT SERVER_VERSION()";
    char *answer;
    struct adapter *a = c->adapter = calloc(1, sizeof *a);
    if (!a)
        return fault_no_memory(fault);
    a->rest.fd = a->ws.fd = -1;
    if (d->setup->is_sending_stubbed)
        return OUTCOME_OK;
    if (!build_authorization(a, d)) {
        fault_set(fault, FAULT_SPEC, "SPEC", "user: the name or the password is too long");
        return OUTCOME_FATAL;
    }
    build_path(a, NULL);
    adapter_deadline(c, deadline_after_s((uint32_t)ceil(d->setup->spec->connect_timeout_s)));
    enum outcome outcome = post(c, a->path, hello, sizeof hello - 1, &answer, fault);
    build_path(a, d->database);
    if (outcome == OUTCOME_OK && d->method == METHOD_WS)
        outcome = adapter_ws_open(c, fault);
    adapter_deadline(c, 0);
    return outcome;
}

void adapter_disconnect(struct connection *c)
{
    stream_free(&c->adapter->rest);
    stream_free(&c->adapter->ws);
    free(c->adapter->block);
    free(c->adapter);
}

void adapter_deadline(struct connection *c, uint64_t deadline_ns)
{
    stream_deadline(&c->adapter->rest, deadline_ns);
    stream_deadline(&c->adapter->ws, deadline_ns);
}

static bool says_affected(char *answer, uint64_t *affected)
{
    static const char name[] = "\"affected_rows\"";
    struct json_at meta = answer_member(answer, "column_meta");
    struct json_at data = answer_member(answer, "data");
    if (!answer_enter(&meta) || !answer_enter(&meta) ||
        strncmp(meta.at, name, sizeof name - 1) != 0)
        return false;
    if (answer_enter(&data) && answer_enter(&data))
        *affected += (uint64_t)answer_whole(data, 0);
    return true;
}

enum outcome adapter_run(struct connection *c, const char *statement, uint64_t *affected,
                         struct fault *fault)
{
    uint64_t rows = 0;
    char *answer;
    const enum outcome outcome =
        post(c, c->adapter->path, statement, strlen(statement), &answer, fault);
    if (outcome == OUTCOME_OK && says_affected(answer, &rows) && affected)
        *affected += rows;
    return outcome;
}

static void tell_columns(char *answer, const struct result_sink *sink)
{
    size_t length;
    bool is_string;
    struct json_at meta = answer_member(answer, "column_meta");
    if (!answer_enter(&meta))
        return;
    do {
        struct json_at column = meta;
        answer_skip(&meta);
        if (!answer_enter(&column))
            return;
        char *name = answer_text(&column, &length, &is_string);
        const char behind = name[length];
        name[length] = '\0';
        sink->column(sink->context, name);
        name[length] = behind;
    } while (answer_next(&meta));
}

static void tell_value(struct json_at *place, const struct result_sink *sink)
{
    size_t length;
    bool is_string;
    const char *text = answer_text(place, &length, &is_string);
    const bool is_null = !is_string && length == 4 && memcmp(text, "null", 4) == 0;
    sink->value(sink->context, is_null ? NULL : text, is_null ? 0 : length, !is_string);
}

static void tell_rows(struct json_at row, const struct result_sink *sink)
{
    if (!answer_enter(&row))
        return;
    do {
        struct json_at value = row;
        sink->row(sink->context);
        if (!answer_enter(&value))
            return;
        do
            tell_value(&value, sink);
        while (answer_next(&value));
        row = value;
    } while (answer_next(&row));
}

enum outcome adapter_sql(struct connection *c, const char *statement,
                         const struct result_sink *sink, struct fault *fault)
{
    uint64_t affected = 0;
    char *answer;
    if (post(c, c->adapter->path, statement, strlen(statement), &answer, fault) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (says_affected(answer, &affected)) {
        sink->affected(sink->context, affected);
        return OUTCOME_OK;
    }
    const struct json_at data = answer_member(answer, "data"); /* before names are taken out */
    tell_columns(answer, sink);
    tell_rows(data, sink);
    return OUTCOME_OK;
}

struct vgroup_list {
    struct taos_route *route;
    bool is_full;
};

static void on_nothing(void *context)
{
    (void)context;
}

static void on_vgroup(void *context, const char *text, size_t length, bool is_number)
{
    struct vgroup_list *list = context;
    struct taos_route *route = list->route;
    (void)length;
    struct taos_range *more =
        is_number && text ? realloc(route->ranges, (size_t)(route->count + 1) * sizeof *more)
                          : NULL;
    if (!more) {
        list->is_full = true;
        return;
    }
    route->ranges = more;
    route->ranges[route->count++].vgroup = (int32_t)strtol(text, NULL, 10);
}

enum outcome adapter_route(struct connection *c, struct taos_route *route, struct fault *fault)
{
    char statement[TDENGINE_NAME_MAX + 128];
    struct vgroup_list list = {.route = route};
    struct json_at rows;
    char *answer;
    const struct result_sink sink = {&list, NULL, on_nothing, on_vgroup, NULL, NULL};
    const int length = snprintf(statement, sizeof statement,
                                "SELECT vgroup_id FROM information_schema.ins_vgroups"
                                " WHERE db_name = '%s' ORDER BY vgroup_id",
                                c->driver->database);
    const enum outcome outcome =
        post(c, c->adapter->path, statement, (size_t)length, &answer, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    rows = answer_member(answer, "data");
    tell_rows(rows, &sink);
    if (list.is_full)
        return fault_no_memory(fault);
    for (int32_t i = 0; i < route->count; i++)
        route->ranges[i].begin = (uint32_t)i * (UINT32_MAX / (uint32_t)route->count);
    return OUTCOME_OK;
}

enum outcome adapter_table_vgroups(struct connection *c, const char *const *tables, uint32_t count,
                                   int *vgroups, struct fault *fault)
{
    char path[sizeof c->adapter->path + 8], *answer, *body = malloc(count * (TABLE_NAME_MAX + 3));
    char *out = body;
    if (!body)
        return fault_no_memory(fault);
    snprintf(path, sizeof path, "%s/vgid", c->adapter->path);
    for (uint32_t i = 0; i < count; i++)
        out += sprintf(out, "%s\"%s\"", i ? "," : "[", tables[i]);
    *out++ = ']';
    const enum outcome outcome = post(c, path, body, (size_t)(out - body), &answer, fault);
    free(body);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct json_at place = answer_member(answer, "vgIDs");
    bool has_more = answer_enter(&place);
    for (uint32_t i = 0; i < count; i++) {
        vgroups[i] = has_more ? (int)answer_whole(place, -1) : -1;
        if (has_more)
            answer_skip(&place);
        has_more = has_more && answer_next(&place);
    }
    return OUTCOME_OK;
}
