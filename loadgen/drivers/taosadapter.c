/* TDengine through taosAdapter: `rest` (INSERT text to /rest/sql) and `ws` (raw blocks over
 * WebSocket). Connecting, placing, creating tables and queries go by REST. */
#include "taosadapter.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../base64.h"
#include "../deadline.h"
#include "../digest.h"
#include "../utf8.h"
#include "http.h"
#include "json_text.h"
#include "sink_values.h"
#include "tdengine.h"
#include "websocket.h"

struct json_at { /* in a text that ends with a zero byte */
    char *at;
};

struct adapter {
    struct stream rest, ws;
    char headers[512]; /* the header line with the authorization */
    char path[3 * TDENGINE_NAME_MAX + 64];
    uint8_t *block; /* the message to be sent */
    size_t block_size;
    uint64_t request;
};

/* Reads JSON in place and in one pass. Malformed text ends it early; it never reads beyond the
 * text. */

static char *skip_blanks(char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

static char *skip_string(char *at) /* at its opening quote */
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static void answer_skip(struct json_at *place)
{
    char *at = skip_blanks(place->at);
    int depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
        } else if (*at == '[' || *at == '{') {
            depth++;
            at++;
        } else if (depth > 0 && (*at == ']' || *at == '}')) {
            depth--;
            at++;
        } else if (depth > 0 && *at) {
            at++;
        } else {
            at += strcspn(at, ",]} \t\r\n");
        }
    } while (depth > 0 && *at);
    place->at = at;
}

/* In the object at `text`; at is NULL if there is none. */
static struct json_at answer_member(char *text, const char *key)
{
    struct json_at place = {skip_blanks(text)};
    const size_t length = strlen(key);
    if (*place.at != '{')
        return (struct json_at){NULL};
    place.at = skip_blanks(place.at + 1);
    while (*place.at == '"') {
        const char *name = place.at + 1;
        place.at = skip_blanks(skip_string(place.at));
        if (*place.at != ':')
            break;
        place.at = skip_blanks(place.at + 1);
        if (strncmp(name, key, length) == 0 && name[length] == '"')
            return place;
        answer_skip(&place);
        place.at = skip_blanks(place.at);
        if (*place.at == ',')
            place.at = skip_blanks(place.at + 1);
    }
    return (struct json_at){NULL};
}

/* False: empty, or not an array. `answer_next` goes to the next member. */
static bool answer_enter(struct json_at *place)
{
    if (!place->at)
        return false;
    char *at = skip_blanks(place->at);
    if (*at != '[')
        return false;
    place->at = skip_blanks(at + 1);
    return *place->at && *place->at != ']';
}

static bool answer_next(struct json_at *place)
{
    place->at = skip_blanks(place->at);
    if (*place->at != ',') {
        place->at += *place->at == ']';
        return false;
    }
    place->at = skip_blanks(place->at + 1);
    return true;
}

static int64_t answer_whole(struct json_at place, int64_t otherwise)
{
    char *end;
    const long long value = place.at ? strtoll(place.at, &end, 10) : 0;
    return place.at && end != place.at ? value : otherwise;
}

/* `*in` is behind its backslash. The result is never longer. */
static char *put_escaped(char *out, char **in)
{
    static const char names[] = "nrtbf", meant[] = "\n\r\t\b\f";
    const char c = *(*in)++;
    const char *known = c ? strchr(names, c) : NULL;
    if (c == 'u' && strspn(*in, "0123456789abcdefABCDEF") >= 4) {
        char digits[5] = {(*in)[0], (*in)[1], (*in)[2], (*in)[3], '\0'};
        *in += 4;
        return out + utf8_put(out, (uint32_t)strtoul(digits, NULL, 16));
    }
    *out = known ? meant[known - names] : c;
    return out + 1;
}

/* Moves behind the value. A string is decoded in place, so it can be read once. */
static char *answer_text(struct json_at *place, size_t *length, bool *is_string)
{
    char *first = skip_blanks(place->at), *out = first;
    *is_string = *first == '"';
    if (!*is_string) {
        answer_skip(place);
        *length = (size_t)(place->at - first);
        return first;
    }
    char *in = first + 1;
    while (*in && *in != '"') {
        if (*in == '\\' && in[1]) {
            in++;
            out = put_escaped(out, &in);
        } else {
            *out++ = *in++;
        }
    }
    place->at = *in ? in + 1 : in;
    *length = (size_t)(out - first);
    return first;
}

/* Transient, unless the request's deadline has passed. */
static enum outcome adapter_broken(const struct stream *stream, struct fault *fault)
{
    if (stream->is_late)
        return fault_late(fault, "taosAdapter has not answered all of it");
    fault_set(fault, FAULT_SERVER, "ADAPTER", "taosAdapter: %s", stream->problem);
    fault->is_transient = true;
    return OUTCOME_ERROR;
}

/* OK if the code is 0. */
static enum outcome adapter_answer(char *text, int status, const char *words, struct fault *fault)
{
    size_t length = 0;
    bool is_string;
    struct json_at description = answer_member(text, words);
    const int64_t code = answer_whole(answer_member(text, "code"), -1);
    if (code == 0 && status == 200)
        return OUTCOME_OK;
    char *message = description.at ? answer_text(&description, &length, &is_string) : text;
    if (description.at)
        message[length] = '\0';
    if (code > 0)
        return tdengine_fault((int)code, message, fault);
    fault_set(fault, FAULT_SERVER, "ADAPTER", "taosAdapter: HTTP status %d: %.300s", status,
              message);
    fault->is_transient = status == 503; /* its memory exceeds a threshold */
    return fault->is_transient ? OUTCOME_ERROR : OUTCOME_FATAL;
}

/* Raw blocks: of each column NULLs (a bit each) and values, or, for variable length, offsets and
 * values after their lengths. NCHAR is UTF-32, as stored. */

enum {
    ACTION_BLOCK = 4,
    ACTION_BLOCK_WITH_FIELDS = 5,
    BLOCK_VERSION = 1,
    HEAD_BYTES = 4 + 4 + 4 + 4 + 4 + 8,
    MESSAGE_HEAD_BYTES = 8 + 8 + 8 + 4 + 2
};

#define PUT(out, type, value)                                                                      \
    do {                                                                                           \
        const type put_value = (type)(value);                                                      \
        memcpy(out, &put_value, sizeof put_value);                                                 \
        (out) += sizeof put_value;                                                                 \
    } while (0)

static uint32_t declared_bytes(const struct column *column)
{
    if (!type_is_text(column->type))
        return column->width;
    return column->length * (column->type == TYPE_NCHAR ? 4 : 1) + 2;
}

static bool is_partial(const struct driver *d)
{
    return d->column_count < d->setup->schema->column_count;
}

/* In the adapter's binary action for raw blocks. */
static size_t block_bytes_max(const struct driver *d, uint32_t rows)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    size_t bytes = MESSAGE_HEAD_BYTES + TABLE_NAME_MAX + HEAD_BYTES + 1;
    size_t row = 8;
    for (uint32_t i = 0; i < d->column_count; i++)
        row += declared_bytes(&columns[i]) + 5;
    bytes += (size_t)(d->column_count + 1) * (5 + 4 + (rows + 7) / 8 + sizeof(struct taos_field));
    return bytes + rows * row;
}

static uint8_t *put_bitmap(uint8_t *out, const uint8_t *nulls, uint32_t rows)
{
    const uint32_t bytes = (rows + 7) / 8;
    memset(out, 0, bytes);
    for (uint32_t i = 0; nulls && i < rows; i++)
        out[i / 8] |= (uint8_t)((nulls[i] & 1) << (7 - i % 8));
    return out + bytes;
}

/* Converts UTF-8 to UTF-32, least significant byte first. */
static uint8_t *put_wide(uint8_t *out, const uint8_t *in, uint32_t length)
{
    for (uint32_t i = 0; i < length;) {
        const uint8_t first = in[i++];
        uint32_t code = first & (first < 0x80 ? 127 : first < 0xe0 ? 31 : first < 0xf0 ? 15 : 7);
        while (i < length && (in[i] & 0xc0) == 0x80)
            code = code << 6 | (in[i++] & 63);
        PUT(out, uint32_t, code);
    }
    return out;
}

/* Offsets, then length and bytes of each value. *data: where the values begin. */
static uint8_t *put_varied(uint8_t *out, const struct column *column,
                           const struct column_data *data, uint32_t offset, uint32_t rows,
                           const uint8_t **first)
{
    uint8_t *offsets = out, *value = out + (size_t)rows * 4;
    *first = value;
    for (uint32_t i = 0; i < rows; i++) {
        const uint8_t *in = (const uint8_t *)data->values + (size_t)(offset + i) * column->width;
        const uint32_t length = (uint32_t)data->lengths[offset + i];
        if (data->nulls && data->nulls[offset + i]) {
            PUT(offsets, int32_t, -1);
            continue;
        }
        PUT(offsets, int32_t, value - *first);
        uint8_t *end = value + 2;
        if (column->type == TYPE_NCHAR) {
            end = put_wide(end, in, length);
        } else {
            memcpy(end, in, length);
            end += length;
        }
        const uint16_t bytes = (uint16_t)(end - value - 2);
        memcpy(value, &bytes, sizeof bytes);
        value = end;
    }
    return value;
}

static uint8_t *put_fixed(uint8_t *out, const void *values, uint32_t width, const uint8_t *nulls,
                          uint32_t rows, const uint8_t **first)
{
    out = put_bitmap(out, nulls, rows);
    *first = out;
    memcpy(out, values, (size_t)rows * width);
    return out + (size_t)rows * width;
}

static uint8_t *put_columns(uint8_t *out, uint8_t *sizes, const struct driver *d,
                            const struct batch *batch, const struct slice *slice)
{
    const struct column *columns = d->setup->schema->columns;
    const uint8_t *first;
    out = put_fixed(out, batch->times + slice->offset, 8, NULL, slice->rows, &first);
    PUT(sizes, int32_t, out - first);
    for (uint32_t i = d->first_column; i < d->first_column + d->column_count; i++) {
        const struct column_data *data = &batch->columns[i];
        const uint8_t *values =
            (const uint8_t *)data->values + (size_t)slice->offset * columns[i].width;
        if (type_is_text(columns[i].type))
            out = put_varied(out, &columns[i], data, slice->offset, slice->rows, &first);
        else
            out = put_fixed(out, values, columns[i].width,
                            data->nulls ? data->nulls + slice->offset : NULL, slice->rows, &first);
        PUT(sizes, int32_t, out - first);
    }
    return out;
}

/* For a block that does not have all columns. */
static uint8_t *put_fields(uint8_t *out, const struct driver *d)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    struct taos_field field = {
        .name = "ts", .type = (int8_t)tdengine_type(TYPE_TIMESTAMP), .bytes = 8};
    memcpy(out, &field, sizeof field);
    out += sizeof field;
    for (uint32_t i = 0; i < d->column_count; i++, out += sizeof field) {
        field = (struct taos_field){.type = (int8_t)tdengine_type(columns[i].type),
                                    .bytes = (int32_t)declared_bytes(&columns[i])};
        memcpy(field.name, columns[i].name, strlen(columns[i].name));
        memcpy(out, &field, sizeof field);
    }
    return out;
}

static size_t block_put(uint8_t *const out, const struct driver *d, const struct batch *batch,
                        const struct slice *slice, uint64_t request)
{
    const struct column *columns = d->setup->schema->columns + d->first_column;
    char name[TABLE_NAME_MAX];
    const size_t name_length = tdengine_table_name(d, slice->table, name);
    uint8_t *at = out, *block, *sizes;
    PUT(at, uint64_t, request);
    PUT(at, uint64_t, request);
    PUT(at, uint64_t, is_partial(d) ? ACTION_BLOCK_WITH_FIELDS : ACTION_BLOCK);
    PUT(at, int32_t, slice->rows);
    PUT(at, uint16_t, name_length);
    memcpy(at, name, name_length);
    block = at += name_length;
    PUT(at, int32_t, BLOCK_VERSION);
    PUT(at, int32_t, 0); /* the length, below */
    PUT(at, int32_t, slice->rows);
    PUT(at, int32_t, d->column_count + 1);
    PUT(at, uint32_t, 0x80000000u);
    PUT(at, uint64_t, 0);
    PUT(at, int8_t, tdengine_type(TYPE_TIMESTAMP));
    PUT(at, int32_t, 8);
    for (uint32_t i = 0; i < d->column_count; i++) {
        PUT(at, int8_t, tdengine_type(columns[i].type));
        PUT(at, int32_t, declared_bytes(&columns[i]));
    }
    sizes = at;
    at = put_columns(at + (size_t)(d->column_count + 1) * 4, sizes, d, batch, slice);
    *at++ = 0;
    const int32_t length = (int32_t)(at - block);
    memcpy(block + 4, &length, sizeof length);
    if (is_partial(d))
        at = put_fields(at, d);
    return (size_t)(at - out);
}

/* The method `ws`: each slice is one binary message; answers are read when all are sent. A block is
 * written whole or not at all. */

static enum outcome receive(struct adapter *a, struct fault *fault)
{
    char *text;
    size_t length;
    if (!websocket_receive(&a->ws, &text, &length))
        return adapter_broken(&a->ws, fault);
    char *end = text + length; /* it may belong to the next message */
    const char behind = *end;
    *end = '\0';
    const enum outcome outcome = adapter_answer(text, 200, "message", fault);
    *end = behind;
    return outcome;
}

static char *put_string(char *out, const char *text)
{
    *out++ = '"';
    out = json_put_text(out, text, strlen(text));
    *out++ = '"';
    return out;
}

static enum outcome adapter_ws_open(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    struct adapter *a = c->adapter;
    char *out = c->text;
    if (!stream_open(&a->ws, d->host, d->adapter_port) || !http_upgrade(&a->ws, d->host, "/ws"))
        return adapter_broken(&a->ws, fault);
    out += sprintf(out, "{\"action\":\"conn\",\"args\":{\"req_id\":1,\"user\":");
    out = put_string(out, d->user);
    out += sprintf(out, ",\"password\":");
    out = put_string(out, d->password);
    if (d->database) {
        out += sprintf(out, ",\"db\":");
        out = put_string(out, d->database);
    }
    out += sprintf(out, "}}");
    if (!websocket_send(&a->ws, WEBSOCKET_TEXT, c->text, (size_t)(out - c->text)))
        return adapter_broken(&a->ws, fault);
    return receive(a, fault);
}

static enum outcome make_room(struct adapter *a, const struct driver *d, uint32_t rows,
                              struct fault *fault)
{
    const size_t most = block_bytes_max(d, rows);
    if (most <= a->block_size)
        return OUTCOME_OK;
    free(a->block);
    a->block = malloc(most);
    a->block_size = a->block ? most : 0;
    return a->block ? OUTCOME_OK : fault_no_memory(fault);
}

static enum outcome send_slices(struct connection *c, const struct batch *batch,
                                struct fault *fault)
{
    struct adapter *a = c->adapter;
    for (uint32_t i = 0; i < batch->slice_count; i++) {
        const struct slice *slice = &batch->slices[i];
        if (make_room(a, c->driver, slice->rows, fault) != OUTCOME_OK)
            return OUTCOME_FATAL;
        const size_t length = block_put(a->block, c->driver, batch, slice, ++a->request);
        if (!c->driver->setup->is_sending_stubbed &&
            !websocket_send(&a->ws, WEBSOCKET_BINARY, a->block, length))
            return adapter_broken(&a->ws, fault);
    }
    return OUTCOME_OK;
}

enum outcome adapter_ws_send(struct connection *c, const struct batch *batch, uint64_t *rows_acked,
                             struct fault *fault)
{
    struct adapter *a = c->adapter;
    enum outcome outcome = OUTCOME_OK;
    if (a->ws.fd < 0 && !c->driver->setup->is_sending_stubbed)
        outcome = adapter_ws_open(c, fault);
    if (outcome == OUTCOME_OK)
        outcome = send_slices(c, batch, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    for (uint32_t i = 0; i < batch->slice_count && a->ws.fd >= 0; i++) {
        struct fault other;
        const enum outcome one = receive(a, &other);
        if (one != OUTCOME_OK && outcome != OUTCOME_FATAL) {
            *fault = other;
            outcome = one;
        }
    }
    if (outcome == OUTCOME_OK)
        *rows_acked = batch->rows;
    return outcome;
}

static bool build_authorization(struct adapter *a, const struct driver *d)
{
    char plain[256], coded[400];
    const int length = snprintf(plain, sizeof plain, "%s:%s", d->user, d->password);
    if (length < 0 || (size_t)length >= sizeof plain || base64_bytes((size_t)length) > sizeof coded)
        return false;
    base64_put(coded, plain, (size_t)length);
    snprintf(a->headers, sizeof a->headers, "Authorization: Basic %s\r\n", coded);
    return true;
}

/* Bytes that a path may not have become %XX. */
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

/* On success the reply's body is JSON text. */
static enum outcome post(struct connection *c, const char *path, const char *body, size_t length,
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

void adapter_deadline(struct connection *c, uint64_t deadline_ns)
{
    stream_deadline(&c->adapter->rest, deadline_ns);
    stream_deadline(&c->adapter->ws, deadline_ns);
}

enum outcome adapter_connect(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    static const char hello[] = "SELECT SERVER_VERSION()";
    struct http_reply reply;
    struct adapter *a = c->adapter = calloc(1, sizeof *a);
    if (!a)
        return fault_no_memory(fault);
    a->rest.fd = a->ws.fd = -1;
    if (d->setup->is_sending_stubbed)
        return OUTCOME_OK;
    if (!build_authorization(a, d))
        return fault_spec(fault, "user: the name or the password is too long");
    build_path(a, NULL);
    adapter_deadline(c, deadline_after_s((uint32_t)ceil(d->setup->spec->connect_timeout_s)));
    enum outcome outcome = post(c, a->path, hello, sizeof hello - 1, &reply, fault);
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
    struct http_reply reply;
    const enum outcome outcome =
        post(c, c->adapter->path, statement, strlen(statement), &reply, fault);
    if (outcome == OUTCOME_OK && says_affected(reply.body, &rows) && affected)
        *affected += rows;
    return outcome;
}

static void pass_columns(char *answer, const struct result_sink *sink)
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

struct value {
    const char *text;
    size_t length;
    bool is_string, is_null;
};

static struct value read_value(struct json_at *place)
{
    struct value value;
    value.text = answer_text(place, &value.length, &value.is_string);
    value.is_null = !value.is_string && value.length == 4 && memcmp(value.text, "null", 4) == 0;
    return value;
}

static void pass_value(struct json_at *place, const struct result_sink *sink)
{
    const struct value value = read_value(place);
    sink->value(sink->context, value.is_null ? NULL : value.text, value.is_null ? 0 : value.length,
                !value.is_string);
}

static void pass_rows(struct json_at row, const struct result_sink *sink)
{
    if (!answer_enter(&row))
        return;
    do {
        struct json_at value = row;
        sink->row(sink->context);
        if (!answer_enter(&value))
            return;
        do
            pass_value(&value, sink);
        while (answer_next(&value));
        row = value;
    } while (answer_next(&row));
}

enum outcome adapter_sql(struct connection *c, const char *statement,
                         const struct result_sink *sink, struct fault *fault)
{
    uint64_t affected = 0;
    struct http_reply reply;
    if (post(c, c->adapter->path, statement, strlen(statement), &reply, fault) != OUTCOME_OK)
        return OUTCOME_ERROR;
    if (says_affected(reply.body, &affected)) {
        sink->affected(sink->context, affected);
        return OUTCOME_OK;
    }
    const struct json_at data =
        answer_member(reply.body, "data"); /* before the names are decoded */
    pass_columns(reply.body, sink);
    pass_rows(data, sink);
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
    struct http_reply reply;
    const struct result_sink sink = {&list, NULL, on_nothing, on_vgroup, NULL, NULL};
    const int length = snprintf(statement, sizeof statement,
                                "SELECT vgroup_id FROM information_schema.ins_vgroups"
                                " WHERE db_name = '%s' ORDER BY vgroup_id",
                                c->driver->database);
    const enum outcome outcome =
        post(c, c->adapter->path, statement, (size_t)length, &reply, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    pass_rows(answer_member(reply.body, "data"), &sink);
    if (list.is_full)
        return fault_no_memory(fault);
    for (int32_t i = 0; i < route->count; i++)
        route->ranges[i].begin = (uint32_t)i * (UINT32_MAX / (uint32_t)route->count);
    return OUTCOME_OK;
}

enum outcome adapter_table_vgroups(struct connection *c, const char *const *tables, uint32_t count,
                                   int *vgroups, struct fault *fault)
{
    char path[sizeof c->adapter->path + 8], *body = malloc(count * (TABLE_NAME_MAX + 3));
    struct http_reply reply;
    char *out = body;
    if (!body)
        return fault_no_memory(fault);
    snprintf(path, sizeof path, "%s/vgid", c->adapter->path);
    for (uint32_t i = 0; i < count; i++)
        out += sprintf(out, "%s\"%s\"", i ? "," : "[", tables[i]);
    *out++ = ']';
    const enum outcome outcome = post(c, path, body, (size_t)(out - body), &reply, fault);
    free(body);
    if (outcome != OUTCOME_OK)
        return outcome;
    struct json_at place = answer_member(reply.body, "vgIDs");
    bool has_more = answer_enter(&place);
    for (uint32_t i = 0; i < count; i++) {
        vgroups[i] = has_more ? (int)answer_whole(place, -1) : -1;
        if (has_more)
            answer_skip(&place);
        has_more = has_more && answer_next(&place);
    }
    return OUTCOME_OK;
}

/* Queries by REST. Rows are counted; for a digest values are read by the types of the columns. */

enum { COLUMNS_READ_MAX = 4096 };

enum kind { KIND_WHOLE, KIND_BOOL, KIND_FLOAT, KIND_DOUBLE, KIND_TIME, KIND_TEXT };

static enum kind kind_of(const char *type, size_t length)
{
    static const struct {
        const char *start;
        enum kind kind;
    } kinds[] = {{"BOOL", KIND_BOOL},      {"FLOAT", KIND_FLOAT},  {"DOUBLE", KIND_DOUBLE},
                 {"TIMESTAMP", KIND_TIME}, {"VARCHAR", KIND_TEXT}, {"BINARY", KIND_TEXT},
                 {"NCHAR", KIND_TEXT},     {"JSON", KIND_TEXT},    {"VARBINARY", KIND_TEXT},
                 {"GEOMETRY", KIND_TEXT}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length >= strlen(kinds[i].start) &&
            memcmp(type, kinds[i].start, strlen(kinds[i].start)) == 0)
            return kinds[i].kind;
    return KIND_WHOLE;
}

/* Decoding writes to the text, so a copy is read. */
static uint32_t read_columns(struct json_at meta, uint8_t *kinds)
{
    uint32_t count = 0;
    size_t length;
    bool is_string;
    if (!answer_enter(&meta))
        return 0;
    do {
        struct json_at column = meta;
        answer_skip(&meta);
        if (!answer_enter(&column))
            return count;
        answer_skip(&column); /* the name */
        if (!answer_next(&column))
            return count;
        const char *type = answer_text(&column, &length, &is_string);
        if (count < COLUMNS_READ_MAX)
            kinds[count] = (uint8_t)kind_of(type, length);
        count++;
    } while (answer_next(&meta));
    return count;
}

/* "2017-07-14T02:40:00.123Z", or with an offset, as ns since 1970. */
static int64_t read_time(const char *text, size_t length)
{
    struct tm day = {.tm_sec = 0};
    char copy[48];
    snprintf(copy, sizeof copy, "%.*s", (int)length, text);
    const char *rest = strptime(copy, "%Y-%m-%dT%H:%M:%S", &day);
    int64_t ns = 0, unit = 1000000000, offset_s = 0;
    if (!rest)
        return 0;
    if (*rest == '.')
        for (rest++; *rest >= '0' && *rest <= '9'; rest++)
            ns += (*rest - '0') * (unit /= 10);
    if (*rest == '+' || *rest == '-') {
        int hours = 0, minutes = 0;
        sscanf(rest + 1, "%2d:%2d", &hours, &minutes);
        offset_s = (hours * 60 + minutes) * (*rest == '+' ? 60 : -60);
    }
    const uint64_t seconds = (uint64_t)((int64_t)timegm(&day) - offset_s);
    return (int64_t)(seconds * 1000000000u + (uint64_t)ns); /* modulo 2^64: any year has a digest */
}

static uint64_t digest_value(uint64_t digest, enum kind kind, const struct value *value)
{
    const char *const text = value->text;
    const size_t length = value->length;
    if (value->is_null)
        return digest_word(digest, DIGEST_NULL);
    switch (kind) {
    case KIND_BOOL:
        return digest_word(digest, *text == 't');
    case KIND_FLOAT:
        return digest_real(digest, (double)strtof(text, NULL));
    case KIND_DOUBLE:
        return digest_real(digest, strtod(text, NULL));
    case KIND_TIME:
        return digest_word(digest, (uint64_t)read_time(text, length));
    case KIND_TEXT:
        return digest_text(digest, text, length);
    default:
        return digest_word(
            digest, *text == '-' ? (uint64_t)strtoll(text, NULL, 10) : strtoull(text, NULL, 10));
    }
}

/* The adapter writes numbers and truth values as JSON has them. */
static void hand_value(const struct result_sink *sink, enum kind kind, const struct value *value)
{
    if (value->is_null)
        sink_null(sink);
    else if (kind == KIND_TIME)
        sink_whole(sink, read_time(value->text, value->length));
    else
        sink->value(sink->context, value->text, value->length,
                    kind != KIND_TEXT && !value->is_string);
}

static void take_answer_rows(struct json_at row, const uint8_t *kinds, struct answer *answer)
{
    if (!answer_enter(&row))
        return;
    do {
        uint32_t column = 0;
        struct json_at place = row;
        if (!answer_enter(&place))
            return;
        if (answer->sink)
            answer->sink->row(answer->sink->context);
        do {
            const enum kind kind = (enum kind)kinds[column++ % COLUMNS_READ_MAX];
            const struct value value = read_value(&place);
            answer->digest = digest_value(answer->digest, kind, &value);
            if (answer->sink)
                hand_value(answer->sink, kind, &value);
        } while (answer_next(&place));
        answer->digest = digest_word(answer->digest, DIGEST_ROW);
        row = place;
    } while (answer_next(&row));
}

enum outcome adapter_ask(struct connection *c, const char *statement, size_t length,
                         struct answer *answer, struct fault *fault)
{
    uint8_t kinds[COLUMNS_READ_MAX] = {0}; /* there may be more columns than announced */
    struct http_reply reply;
    const enum outcome outcome = post(c, c->adapter->path, statement, length, &reply, fault);
    if (outcome !=
        OUTCOME_OK) /* a failed query fails alone; a broken connection may be transient */
        return fault->is_late ? OUTCOME_FATAL : OUTCOME_ERROR;
    const struct json_at meta = answer_member(reply.body, "column_meta");
    const struct json_at data = answer_member(reply.body, "data");
    const int64_t rows = answer_whole(answer_member(reply.body, "rows"), 0);
    const uint32_t columns = read_columns(meta, kinds);
    answer->rows = rows > 0 ? (uint64_t)rows : 0;
    answer->values = answer->rows * columns;
    answer->bytes = reply.length;
    if (answer->wants_digest)
        take_answer_rows(data, kinds, answer);
    answer->is_handed = answer->sink != NULL;
    return OUTCOME_OK;
}
