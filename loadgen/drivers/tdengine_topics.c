/* Consumers of topics; see tdengine_topics.h. */
#include "tdengine_topics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "tdengine_ask.h"

enum { MESSAGE_OF_ROWS = 1, CONF_OK = 0, SETTINGS_BYTES_MAX = 4096 };
enum { DEFAULT_POLL_MS = 10000, POLL_MS_MAX = 86400000, POLL_PART_MS = 500 };

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
    uint64_t poll_ms, expect_rows, commits, row_times;
};

struct consumer {
    void *handle;
    uint64_t rows, quiet_ms; /* since the last message */
};

enum outcome topics_open(struct driver *d, struct fault *fault)
{
    const struct spec *spec = d->setup->spec;
    const char *poll = spec_option(spec, "poll_ms");
    const bool waits_on = poll && strcmp(poll, "-1") == 0;
    struct topics_library *t = calloc(1, sizeof *t);
    char why[160];
    if (!t)
        return fault_no_memory(fault);
    d->topics = t;
    t->poll_ms = waits_on ? POLL_FOREVER : DEFAULT_POLL_MS;
    if ((waits_on ||
         spec_option_whole(spec, "poll_ms", 0, POLL_MS_MAX, &t->poll_ms, why, sizeof why)) &&
        spec_option_whole(spec, "expect_rows", 0, UINT32_MAX, &t->expect_rows, why, sizeof why) &&
        spec_option_whole(spec, "commit_messages", 0, 1, &t->commits, why, sizeof why) &&
        spec_option_whole(spec, "row_times", 0, 1, &t->row_times, why, sizeof why))
        return OUTCOME_OK;
    fault_set(fault, FAULT_SPEC, "SPEC", "%s", why);
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

/* One setting of a consumer, `{worker}` in its value replaced by the number of the worker. */
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
    fault_set(fault, FAULT_SPEC, "SPEC", "consumer: libtaos does not take %s=%.200s", key, text);
    return false;
}

/* The pairs `key=value` of the option `consumer`, with commas between them. */
static bool set_all(const struct driver *d, void *conf, uint32_t worker, struct fault *fault)
{
    const char *option = spec_option(d->setup->spec, "consumer");
    char text[SETTINGS_BYTES_MAX], *rest = text, *pair;
    snprintf(text, sizeof text, "%s", option ? option : "");
    while (option && (pair = strsep(&rest, ",")) != NULL) {
        char *value = strchr(pair, '=');
        if (!value) {
            fault_set(fault, FAULT_SPEC, "SPEC", "consumer: '%.100s' is not key=value", pair);
            return false;
        }
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
    free(c->consumer);
}

enum outcome topics_prepare(struct connection *c, const char *text, struct fault *fault)
{
    const struct topics_library *t = c->driver->topics;
    char *copy = strdup(text), *rest = copy, *topic;
    void *list = t->list_new();
    int32_t code = 0;
    while (copy && list && code == 0 && (topic = strsep(&rest, ",")) != NULL)
        code = t->list_add(list, topic);
    if (copy && list && code == 0)
        code = t->subscribe(c->consumer->handle, list);
    if (list)
        t->list_free(list);
    free(copy);
    if (!copy || !list)
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
        tdengine_tell_rows(t, message, answer->sink);
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

/* The next message, NULL if none came within a part of the time that a consumer waits. */
static TAOS_RES *poll_part(const struct topics_library *t, struct consumer *consumer)
{
    const uint64_t left_ms = t->poll_ms - consumer->quiet_ms;
    const uint64_t part_ms = left_ms < POLL_PART_MS ? left_ms : POLL_PART_MS;
    TAOS_RES *message = t->poll(consumer->handle, (int64_t)part_ms);
    consumer->quiet_ms = message ? 0 : consumer->quiet_ms + part_ms;
    return message;
}

enum outcome topics_ask(struct connection *c, struct answer *answer, struct fault *fault)
{
    const struct topics_library *t = c->driver->topics;
    struct consumer *consumer = c->consumer;
    const bool had_all = t->expect_rows && consumer->rows > t->expect_rows;
    TAOS_RES *message = had_all ? NULL : poll_part(t, consumer);
    if (!message) {
        answer->is_end = had_all || consumer->quiet_ms >= t->poll_ms;
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
