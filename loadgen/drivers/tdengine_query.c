/* Reads from TDengine through libtaos: statements, raw blocks, subscriptions (`tmq`), queries. The
 * lengths in a block are not trusted. */
#include "tdengine.h"

#include <endian.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../deadline.h"
#include "../digest.h"
#include "../marks.h"
#include "../utf8.h"
#include "answer_value.h"
#include "ask_text.h"
#include "library.h"
#include "taosadapter.h"

/* Numbers of types, in libtaos and in raw blocks. */

enum {
    T_BOOL = 1,
    T_TINYINT,
    T_SMALLINT,
    T_INT,
    T_BIGINT,
    T_FLOAT,
    T_DOUBLE,
    T_VARCHAR,
    T_TIMESTAMP,
    T_NCHAR,
    T_UTINYINT,
    T_USMALLINT,
    T_UINT,
    T_UBIGINT,
    T_JSON,
    T_VARBINARY,
    T_GEOMETRY = 20
};

#define READ(type, from) (((const struct { type v; } __attribute__((packed)) *)(from))->v)

static int print_real(char *out, size_t size, double value, int digits, bool *is_number)
{
    *is_number = isfinite(value);
    return snprintf(out, size, "%.*g", digits, value);
}

/* Returns the length, -1 for a type of variable length. */
static int print_fixed(char *out, size_t size, int type, const void *v, bool *is_number)
{
    *is_number = true;
    switch (type) {
    case T_BOOL:
        return snprintf(out, size, "%s", READ(int8_t, v) ? "true" : "false");
    case T_TINYINT:
        return snprintf(out, size, "%d", READ(int8_t, v));
    case T_UTINYINT:
        return snprintf(out, size, "%u", READ(uint8_t, v));
    case T_SMALLINT:
        return snprintf(out, size, "%d", READ(int16_t, v));
    case T_USMALLINT:
        return snprintf(out, size, "%u", READ(uint16_t, v));
    case T_INT:
        return snprintf(out, size, "%" PRId32, READ(int32_t, v));
    case T_UINT:
        return snprintf(out, size, "%" PRIu32, READ(uint32_t, v));
    case T_BIGINT:
    case T_TIMESTAMP:
        return snprintf(out, size, "%" PRId64, READ(int64_t, v));
    case T_UBIGINT:
        return snprintf(out, size, "%" PRIu64, READ(uint64_t, v));
    case T_FLOAT:
        return print_real(out, size, (double)READ(float, v), 9, is_number);
    case T_DOUBLE:
        return print_real(out, size, READ(double, v), 17, is_number);
    default:
        *is_number = false;
        return -1;
    }
}

static size_t print_bytes(char *out, size_t size, const uint8_t *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    size_t used = 0;
    for (size_t i = 0; i < length && used + 2 < size; i++) {
        out[used++] = digits[bytes[i] >> 4];
        out[used++] = digits[bytes[i] & 15];
    }
    return used;
}

static void pass_value(int type, const void *value, int length, const struct result_sink *sink)
{
    char text[512];
    bool is_number;
    if (!value) {
        sink->value(sink->context, NULL, 0, false);
        return;
    }
    const int printed = print_fixed(text, sizeof text, type, value, &is_number);
    if (printed >= 0)
        sink->value(sink->context, text, (size_t)printed, is_number);
    else if (type == T_VARBINARY || type == T_GEOMETRY)
        sink->value(sink->context, text, print_bytes(text, sizeof text, value, (size_t)length),
                    false);
    else
        sink->value(sink->context, value, (size_t)length, false);
}

static void tdengine_pass_rows(const struct libtaos *t, TAOS_RES *result,
                               const struct result_sink *sink)
{
    int columns = t->field_count(result);
    const struct taos_field *fields = t->fields(result);
    void **row;
    for (int i = 0; i < columns; i++)
        sink->column(sink->context, fields[i].name);
    while ((row = t->fetch_row(result)) != NULL) {
        const int *lengths = t->lengths(result);
        columns = t->field_count(result); /* only a message's first row has the columns */
        fields = t->fields(result);
        sink->row(sink->context);
        for (int i = 0; i < columns; i++)
            pass_value(fields[i].type, row[i], lengths[i], sink);
    }
}

enum outcome tdengine_sql(struct connection *c, const char *statement,
                          const struct result_sink *sink, struct fault *fault)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->adapter)
        return adapter_sql(c, statement, sink, fault);
    TAOS_RES *result = t->query(c->taos, statement);
    enum outcome outcome = OUTCOME_OK;
    int code = t->error(result);
    if (code == 0 && t->field_count(result) > 0) {
        tdengine_pass_rows(t, result, sink);
        code = t->error(result);
    } else if (code == 0) {
        sink->affected(sink->context, (uint64_t)t->affected(result));
    }
    if (code != 0) {
        tdengine_fault(code, t->error_text(result), fault);
        outcome = OUTCOME_ERROR;
    }
    t->free_result(result);
    return outcome;
}

enum outcome tdengine_run(struct connection *c, const char *statement, uint64_t *affected,
                          struct fault *fault)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->adapter)
        return adapter_run(c, statement, affected, fault);
    TAOS_RES *result = t->query(c->taos, statement);
    const int code = t->error(result);
    enum outcome outcome = OUTCOME_OK;
    if (code != 0)
        outcome = tdengine_fault(code, t->error_text(result), fault);
    else if (affected)
        *affected += (uint64_t)t->affected(result);
    t->free_result(result);
    return outcome;
}

/* Raw blocks: a head (version, length, rows, columns, flags, group), type and width, then length of
 * each column, then columns. Fixed width: a bitmap of NULLs, then values. Text: the offset of each
 * value, -1 for NULL, then values after lengths of 2 bytes. */

enum { HEAD_BYTES = 28, FIELD_BYTES = 5, LENGTH_PLACE = 4, ROWS_PLACE = 8, COLUMNS_PLACE = 12 };

struct raw_column {
    int type;
    uint32_t width;
    const uint8_t *start; /* the bitmap, or the offsets */
    const uint8_t *values;
};

/* A value of any other type is read as 8 bytes. */
static uint32_t width_of(int type)
{
    static const uint8_t widths[T_GEOMETRY + 1] = {
        [T_BOOL] = 1,      [T_TINYINT] = 1, [T_UTINYINT] = 1, [T_SMALLINT] = 2,
        [T_USMALLINT] = 2, [T_INT] = 4,     [T_UINT] = 4,     [T_FLOAT] = 4};
    return type >= 0 && type <= T_GEOMETRY && widths[type] ? widths[type] : 8;
}

static bool is_text(int type)
{
    return type == T_VARCHAR || type == T_NCHAR || type == T_JSON || type == T_VARBINARY ||
           type == T_GEOMETRY;
}

static uint32_t raw_block_bytes(const void *block)
{
    return READ(uint32_t, (const uint8_t *)block + LENGTH_PLACE);
}

/* room: for a text in UTF-32, which is never shorter. */
static struct answer_value text_at(const struct raw_column *column, uint32_t row,
                                   uint8_t room[UINT16_MAX])
{
    const int32_t place = READ(int32_t, column->start + (size_t)row * 4);
    if (place < 0)
        return (struct answer_value){.kind = ANSWER_NULL};
    const uint8_t *value = column->values + place;
    const uint32_t bytes = READ(uint16_t, value);
    if (column->type != T_NCHAR)
        return (struct answer_value){
            .kind = ANSWER_TEXT, .text = (const char *)value + 2, .length = bytes};
    size_t used = 0;
    for (uint32_t i = 0; i + 4 <= bytes; i += 4)
        used += utf8_put((char *)room + used, READ(uint32_t, value + 2 + i));
    return (struct answer_value){.kind = ANSWER_TEXT, .text = (const char *)room, .length = used};
}

static struct answer_value value_at(const struct raw_column *column, uint32_t row,
                                    int64_t ns_per_unit, uint8_t room[UINT16_MAX])
{
    const uint8_t *value = column->values + (size_t)row * column->width;
    struct answer_value cell = {.kind = ANSWER_WHOLE};
    if (is_text(column->type))
        return text_at(column, row, room);
    if (column->start[row / 8] >> (7 - row % 8) & 1)
        return (struct answer_value){.kind = ANSWER_NULL};
    switch (column->type) {
    case T_BOOL:
    case T_UTINYINT:
        cell.whole = *value;
        break;
    case T_TINYINT:
        cell.whole = *value < 128 ? *value : *value - 256;
        break;
    case T_SMALLINT:
        cell.whole = READ(int16_t, value);
        break;
    case T_USMALLINT:
        cell.whole = READ(uint16_t, value);
        break;
    case T_INT:
        cell.whole = READ(int32_t, value);
        break;
    case T_UINT:
        cell.whole = READ(uint32_t, value);
        break;
    case T_FLOAT:
        cell.kind = ANSWER_FLOAT;
        cell.real = (double)READ(float, value);
        break;
    case T_DOUBLE:
        cell.kind = ANSWER_DOUBLE;
        cell.real = READ(double, value);
        break;
    case T_TIMESTAMP:
        cell.whole = (int64_t)((uint64_t)READ(int64_t, value) * (uint64_t)ns_per_unit);
        break;
    case T_UBIGINT:
        cell.kind = ANSWER_UNSIGNED;
        cell.whole = READ(int64_t, value);
        break;
    default:
        cell.whole = READ(int64_t, value);
    }
    return cell;
}

static bool has_texts(const struct raw_column *column, uint32_t rows, uint64_t bytes)
{
    for (uint32_t row = 0; row < rows; row++) {
        const int64_t place = READ(int32_t, column->start + (size_t)row * 4);
        if (place >= 0 && ((uint64_t)place + 2 > bytes ||
                           (uint64_t)place + 2 + READ(uint16_t, column->values + place) > bytes))
            return false;
    }
    return true;
}

/* Behind the head, the types and the lengths; 0: the block is too short. */
static uint64_t columns_place(const uint8_t *block, uint32_t count)
{
    const uint64_t place = HEAD_BYTES + (uint64_t)count * (FIELD_BYTES + 4);
    return place <= raw_block_bytes(block) ? place : 0;
}

/* False: its lengths do not fit. */
static bool find_columns(const uint8_t *block, struct raw_column *columns, uint32_t count,
                         uint32_t rows)
{
    const uint8_t *const lengths = block + HEAD_BYTES + (size_t)count * FIELD_BYTES;
    uint64_t at = columns_place(block, count), left = raw_block_bytes(block) - at;
    for (uint32_t i = 0; i < count; i++) {
        struct raw_column *column = &columns[i];
        const uint8_t *field = block + HEAD_BYTES + (size_t)i * FIELD_BYTES;
        column->type = *field;
        column->width = READ(uint32_t, field + 1);
        const uint64_t before =
            is_text(column->type) ? (uint64_t)rows * 4 : ((uint64_t)rows + 7) / 8;
        const uint64_t bytes = READ(uint32_t, lengths + (size_t)i * 4);
        if (before > left || bytes > left - before)
            return false;
        column->start = block + at;
        column->values = column->start + before;
        at += before + bytes;
        left -= before + bytes;
        if (is_text(column->type)
                ? !has_texts(column, rows, bytes)
                : bytes != (uint64_t)rows * column->width || column->width < width_of(column->type))
            return false;
    }
    return true;
}

bool raw_block_take(const void *block, int64_t ns_per_unit, uint64_t *digest,
                    const struct result_sink *sink)
{
    const uint32_t rows = READ(uint32_t, (const uint8_t *)block + ROWS_PLACE);
    const uint32_t count = READ(uint32_t, (const uint8_t *)block + COLUMNS_PLACE);
    if (count == 0 || !columns_place(block, count))
        return rows == 0;
    struct raw_column *columns = calloc((size_t)count + 1, sizeof *columns);
    const bool ok = columns && find_columns(block, columns, count, rows);
    uint64_t hash = *digest;
    uint8_t room[UINT16_MAX];
    for (uint32_t row = 0; ok && row < rows; row++) {
        if (sink)
            sink->row(sink->context);
        for (uint32_t i = 0; i < count; i++) {
            const struct answer_value value = value_at(&columns[i], row, ns_per_unit, room);
            hash = answer_digest(hash, &value);
            if (sink)
                answer_hand(sink, &value);
        }
        hash = digest_word(hash, DIGEST_ROW);
    }
    *digest = hash;
    free(columns);
    return ok;
}

void raw_block_last_time(const void *block, int64_t ns_per_unit, int64_t *ns)
{
    const uint8_t *bytes = block;
    const uint32_t rows = READ(uint32_t, bytes + ROWS_PLACE);
    const uint32_t count = READ(uint32_t, bytes + COLUMNS_PLACE);
    const uint64_t nulls = columns_place(block, count), values = nulls + ((uint64_t)rows + 7) / 8;
    if (nulls == 0 || rows == 0 || count == 0 || bytes[HEAD_BYTES] != T_TIMESTAMP ||
        values + (uint64_t)rows * sizeof(int64_t) > raw_block_bytes(block) ||
        bytes[nulls + (rows - 1) / 8] >> (7 - (rows - 1) % 8) & 1)
        return;
    const int64_t last = READ(int64_t, bytes + values + (size_t)(rows - 1) * sizeof(int64_t));
    int64_t in_ns;
    if (!__builtin_mul_overflow(last, ns_per_unit, &in_ns))
        *ns = in_ns;
}

enum { MESSAGE_OF_ROWS = 1, CONF_OK = 0, SETTINGS_BYTES_MAX = 4096 };
enum { DEFAULT_POLL_MS = 10000, POLL_MS_MAX = 86400000, POLL_PART_MS = 500, ASSIGN_MS = 60000 };

#define NOT_ASSIGNED ((int32_t)0x80004009) /* the consumer has no vgroup of the topic */

#define POLL_FOREVER UINT64_MAX

struct topics_library {
    void *(*conf_new)(void);
    int (*conf_set)(void *conf, const char *key, const char *value);
    void (*conf_free)(void *conf);
    void *(*list_new)(void);
    int32_t (*list_add)(void *list, const char *topic);
    void (*list_free)(void *list);
    void *(*consumer_new)(void *conf, char *why, int32_t why_size);
    int32_t (*consumer_close)(void *consumer);
    int32_t (*subscribe)(void *consumer, const void *list);
    TAOS_RES *(*poll)(void *consumer, int64_t ms);
    int32_t (*commit)(void *consumer, const TAOS_RES *message);
    int (*kind)(TAOS_RES *message);
    const char *(*words)(int32_t code);
    int (*precision)(TAOS_RES *message);
    int32_t (*assignment)(void *consumer, const char *topic, void **list, int32_t *count);
    void (*free_assignment)(void *list);
    uint64_t poll_ms, assign_ms, expect_rows, commits, row_times;
    _Atomic bool is_any_assigned; /* a consumer of this process has vgroups */
};

struct consumer {
    void *handle;
    char *topics; /* each with its end; an empty one is the last */
    uint64_t rows;
    uint64_t ends_ns; /* when it ends without a message; 0: its clock has not started */
    uint64_t assigned_by_ns; /* for its group to have vgroups */
    bool is_assigned;
};

enum outcome topics_open(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    const char *poll = spec_option(spec, "poll_ms");
    const bool waits_on = poll && strcmp(poll, "-1") == 0;
    struct topics_library *t = calloc(1, sizeof *t);
    if (!t)
        return fault_no_memory(fault);
    d->topics = t;
    t->poll_ms = waits_on ? POLL_FOREVER : DEFAULT_POLL_MS;
    t->assign_ms = ASSIGN_MS;
    if ((waits_on || driver_option(spec, "poll_ms", 0, POLL_MS_MAX, &t->poll_ms, fault)) &&
        driver_option(spec, "assign_ms", 1, POLL_MS_MAX, &t->assign_ms, fault) &&
        driver_option(spec, "expect_rows", 0, UINT32_MAX, &t->expect_rows, fault) &&
        driver_option(spec, "commit_messages", 0, 1, &t->commits, fault) &&
        driver_option(spec, "row_times", 0, 1, &t->row_times, fault))
        return OUTCOME_OK;
    return OUTCOME_FATAL;
}

enum outcome topics_load_library(struct driver *d, struct fault *fault)
{
    struct topics_library *t = d->topics;
    const struct symbol symbols[] = {
        {"tmq_conf_new", &t->conf_new},
        {"tmq_conf_set", &t->conf_set},
        {"tmq_conf_destroy", &t->conf_free},
        {"tmq_list_new", &t->list_new},
        {"tmq_list_append", &t->list_add},
        {"tmq_list_destroy", &t->list_free},
        {"tmq_consumer_new", &t->consumer_new},
        {"tmq_consumer_close", &t->consumer_close},
        {"tmq_subscribe", &t->subscribe},
        {"tmq_consumer_poll", &t->poll},
        {"tmq_commit_sync", &t->commit},
        {"tmq_get_res_type", &t->kind},
        {"tmq_err2str", &t->words},
        {"taos_result_precision", &t->precision},
        {"tmq_get_topic_assignment", &t->assignment},
        {"tmq_free_assignment", &t->free_assignment},
    };
    return library_find(d->taos.handle, symbols, sizeof symbols / sizeof *symbols,
                        ": is it libtaos of TDengine 3?", fault)
               ? OUTCOME_OK
               : OUTCOME_FATAL;
}

void topics_free_library(struct driver *d)
{
    free(d->topics);
}

/* `{worker}` in a value becomes the number of the worker. */
static bool set(const struct topics_library *t, void *conf, const char *key, const char *value,
                uint32_t worker, struct fault *fault)
{
    static const char mark[] = "{worker}";
    char text[512];
    const char *at = strstr(value, mark);
    if (at)
        snprintf(text, sizeof text, "%.*s%" PRIu32 "%s", (int)(at - value), value, worker,
                 at + strlen(mark));
    else
        snprintf(text, sizeof text, "%s", value);
    if (t->conf_set(conf, key, text) == CONF_OK)
        return true;
    return fault_spec(fault, "consumer: libtaos does not take %s=%.200s", key, text) == OUTCOME_OK;
}

/* `key=value` of the option `consumer`, separated by commas. */
static bool set_all(const struct driver *d, void *conf, uint32_t worker, struct fault *fault)
{
    const char *option = spec_option(d->setup->spec, "consumer");
    char text[SETTINGS_BYTES_MAX], *rest = text, *pair;
    snprintf(text, sizeof text, "%s", option ? option : "");
    while (option && (pair = strsep(&rest, ",")) != NULL) {
        char *value = strchr(pair, '=');
        if (!value)
            return fault_spec(fault, "consumer: '%.100s' is not key=value", pair) == OUTCOME_OK;
        *value++ = '\0';
        if (!set(d->topics, conf, pair, value, worker, fault))
            return false;
    }
    return true;
}

enum outcome topics_connect(struct connection *c, uint32_t worker, struct fault *fault)
{
    const struct driver *d = c->driver;
    const struct topics_library *t = d->topics;
    char port[8], why[256] = "";
    void *conf = t->conf_new();
    c->consumer = calloc(1, sizeof *c->consumer);
    if (!conf || !c->consumer)
        return fault_no_memory(fault);
    snprintf(port, sizeof port, "%u", d->port);
    const bool ok = set(t, conf, "td.connect.ip", d->host, worker, fault) &&
                    set(t, conf, "td.connect.port", port, worker, fault) &&
                    set(t, conf, "td.connect.user", d->user, worker, fault) &&
                    t->conf_set(conf, "td.connect.pass", d->password) == CONF_OK &&
                    set_all(d, conf, worker, fault);
    if (ok && !(c->consumer->handle = t->consumer_new(conf, why, sizeof why)))
        tdengine_fault(d->taos.error(NULL), *why ? why : d->taos.error_text(NULL), fault);
    t->conf_free(conf);
    return c->consumer->handle ? OUTCOME_OK : OUTCOME_FATAL;
}

void topics_disconnect(struct connection *c)
{
    if (c->consumer && c->consumer->handle)
        c->driver->topics->consumer_close(c->consumer->handle);
    if (c->consumer)
        free(c->consumer->topics);
    free(c->consumer);
}

static enum outcome topics_prepare(struct connection *c, const char *text, struct fault *fault)
{
    const struct topics_library *t = c->driver->topics;
    struct consumer *consumer = c->consumer;
    const size_t length = strlen(text);
    void *list = t->list_new();
    int32_t code = 0;
    consumer->topics = calloc(1, length + 2);
    if (!consumer->topics || !list)
        code = -1;
    for (size_t i = 0; code == 0 && i < length; i++)
        consumer->topics[i] = text[i] == ',' ? '\0' : text[i];
    for (const char *topic = consumer->topics; code == 0 && *topic; topic += strlen(topic) + 1)
        code = t->list_add(list, topic);
    if (code == 0)
        code = t->subscribe(consumer->handle, list);
    if (list)
        t->list_free(list);
    if (!consumer->topics || !list)
        return fault_no_memory(fault);
    if (code == 0)
        return OUTCOME_OK;
    tdengine_fault(code, t->words(code), fault);
    return OUTCOME_FATAL;
}

static enum outcome read_message(struct connection *c, TAOS_RES *message, struct answer *answer,
                                 struct fault *fault)
{
    static const int64_t ns[] = {1000000, 1000, 1}; /* by libtaos' number of the precision */
    const struct libtaos *t = &c->driver->taos;
    const int precision = c->driver->topics->precision(message);
    void *block;
    int rows = 0, code;
    if (answer->sink) {
        tdengine_pass_rows(t, message, answer->sink);
        return OUTCOME_OK;
    }
    while ((code = t->fetch_block(message, &rows, &block)) == 0 && rows > 0) {
        answer->rows += (uint64_t)rows;
        answer->values += (uint64_t)rows * (uint64_t)t->field_count(message);
        answer->bytes += raw_block_bytes(block);
        if (c->driver->topics->row_times && precision >= 0 && precision < 3)
            raw_block_last_time(block, ns[precision], &answer->newest_ns);
    }
    if (code == 0)
        return OUTCOME_OK;
    tdengine_fault(code, t->error_text(message), fault);
    return OUTCOME_ERROR;
}

/* In a mode without offsets libtaos does not name vgroups. */
static bool has_vgroups(const struct topics_library *t, const struct consumer *consumer)
{
    for (const char *topic = consumer->topics; *topic; topic += strlen(topic) + 1) {
        void *list = NULL;
        int32_t count = 0;
        const int32_t code = t->assignment(consumer->handle, topic, &list, &count);
        if (list)
            t->free_assignment(list);
        if (code == 0 ? count > 0 : code != NOT_ASSIGNED)
            return true;
    }
    return false;
}

/* When the consumer has vgroups; one that gets none waits as long. */
static void start_clock(struct topics_library *t, struct consumer *consumer)
{
    if (!consumer->is_assigned && has_vgroups(t, consumer)) {
        consumer->is_assigned = true;
        consumer->ends_ns = 0;
        t->is_any_assigned = true;
    }
    if (!consumer->ends_ns && t->is_any_assigned)
        consumer->ends_ns = deadline_after_ms(t->poll_ms);
}

/* NULL: none came within a part of the time that a consumer waits. */
static TAOS_RES *poll_part(struct topics_library *t, struct consumer *consumer)
{
    const uint64_t left_ms = consumer->ends_ns ? deadline_left_ms(consumer->ends_ns) : t->poll_ms;
    const uint64_t part_ms = left_ms < POLL_PART_MS ? left_ms : POLL_PART_MS;
    TAOS_RES *message = t->poll(consumer->handle, (int64_t)part_ms);
    if (message) {
        consumer->is_assigned = t->is_any_assigned = true;
        consumer->ends_ns = 0;
    }
    if (t->poll_ms != POLL_FOREVER)
        start_clock(t, consumer);
    return message;
}

/* Neither the consumer nor another of this process got vgroups in time. */
static bool is_never_assigned(const struct topics_library *t, struct consumer *consumer)
{
    if (!consumer->assigned_by_ns)
        consumer->assigned_by_ns = deadline_after_ms(t->assign_ms);
    return !consumer->ends_ns && deadline_left_ms(consumer->assigned_by_ns) == 0;
}

static enum outcome topics_ask(struct connection *c, struct answer *answer, struct fault *fault)
{
    struct topics_library *t = c->driver->topics;
    struct consumer *consumer = c->consumer;
    const bool had_all = t->expect_rows && consumer->rows > t->expect_rows;
    TAOS_RES *message = had_all ? NULL : poll_part(t, consumer);
    if (!message && !had_all && t->poll_ms != POLL_FOREVER && is_never_assigned(t, consumer))
        return fault_set(fault, FAULT_SERVER, "ASSIGN",
                         "the server gave no vgroup to a consumer of the group within %g s",
                         (double)t->assign_ms / 1e3);
    if (!message) {
        answer->is_end = had_all || (consumer->ends_ns && deadline_left_ms(consumer->ends_ns) == 0);
        answer->is_quiet = !answer->is_end;
        return OUTCOME_OK;
    }
    const int kind = t->kind(message);
    enum outcome outcome = OUTCOME_ERROR;
    if (kind == MESSAGE_OF_ROWS)
        outcome = read_message(c, message, answer, fault);
    else
        fault_set(fault, FAULT_SERVER, "MESSAGE", "a message of kind %d has no rows", kind);
    consumer->rows += answer->rows;
    const int32_t code =
        outcome == OUTCOME_OK && t->commits ? t->commit(consumer->handle, message) : 0;
    if (code != 0) {
        tdengine_fault(code, t->words(code), fault);
        outcome = OUTCOME_ERROR;
    }
    c->driver->taos.free_result(message);
    return outcome;
}

/* Queries, through libtaos or taosAdapter. Values are read for a digest or a sink only. */

struct tdengine_ask {
    struct marks marks;
};

enum outcome tdengine_check_ask(const struct driver *d, const struct marks *marks, const char *text,
                                struct fault *fault)
{
    if (d->method == METHOD_TMQ ||
        strlen(text) + marks->parameter_count * TABLE_NAME_MAX < SQL_BYTES_MAX)
        return OUTCOME_OK;
    return fault_spec(fault, "the text grows longer than %d bytes", SQL_BYTES_MAX);
}

enum outcome tdengine_prepare(struct connection *c, uint32_t operation, const char *text,
                              struct fault *fault)
{
    struct tdengine_ask *ask;
    char why[128];
    if (c->consumer)
        return topics_prepare(c, text, fault);
    ask = calloc(1, sizeof *ask);
    if (!ask)
        return fault_no_memory(fault);
    c->asks[operation] = ask;
    if (!marks_read(&ask->marks, text, why, sizeof why))
        return fault_spec(fault, "%s", why);
    return OUTCOME_OK;
}

/* Fails that query alone, unless it is transient. */
static enum outcome query_fault(const struct libtaos *t, TAOS_RES *result, int code,
                                struct fault *fault)
{
    tdengine_fault(code, t->error_text(result), fault);
    return OUTCOME_ERROR;
}

static enum outcome read_blocks(const struct driver *d, TAOS_RES *result, struct answer *answer,
                                struct fault *fault)
{
    const struct libtaos *t = &d->taos;
    const int64_t ns = 1000000 / spec_units_per_ms(d->setup->spec);
    void *block;
    int rows = 0, code;
    while ((code = t->fetch_block(result, &rows, &block)) == 0 && rows > 0) {
        answer->rows += (uint64_t)rows;
        answer->values += (uint64_t)rows * (uint64_t)t->field_count(result);
        answer->bytes += raw_block_bytes(block);
        if (answer->wants_digest && !raw_block_take(block, ns, &answer->digest, answer->sink)) {
            fault_set(fault, FAULT_SERVER, "BLOCK", "libtaos gave a block of unknown layout");
            return OUTCOME_FATAL;
        }
    }
    answer->is_handed = answer->sink && code == 0;
    return code == 0 ? OUTCOME_OK : query_fault(t, result, code, fault);
}

enum outcome tdengine_ask(struct connection *c, uint32_t operation,
                          const struct parameter *parameters, uint64_t deadline_ns,
                          struct answer *answer, struct fault *fault)
{
    const struct libtaos *t = &c->driver->taos;
    if (c->consumer)
        return topics_ask(c, answer, fault);
    const char *end =
        ask_fill(c->text, &c->asks[operation]->marks, parameters, c->driver, tdengine_table_name);
    if (c->adapter) {
        adapter_deadline(c, deadline_ns);
        return adapter_ask(c, c->text, (size_t)(end - c->text), answer, fault);
    }
    TAOS_RES *result = t->query(c->taos, c->text);
    const int code = t->error(result);
    enum outcome outcome = OUTCOME_OK;
    if (code != 0)
        outcome = query_fault(t, result, code, fault);
    else if (t->field_count(result) > 0)
        outcome = read_blocks(c->driver, result, answer, fault);
    t->free_result(result);
    return outcome;
}
