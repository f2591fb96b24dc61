/* A connection by version 3 of the PostgreSQL protocol: its login with a password in clear text,
 * the statements that it prepares, the server's messages and faults. It refuses other ways of
 * login: servers that need one are reached by libpq. */
#include <stdio.h>
#include <stdlib.h>

#include "pgwire_parts.h"

const uint8_t pgwire_flush[PGWIRE_MARK_BYTES] = {'H', 0, 0, 0, 4};
const uint8_t pgwire_sync[PGWIRE_MARK_BYTES] = {'S', 0, 0, 0, 4};

enum { VERSION_3 = 196608, LOGIN_DONE = 0, LOGIN_CLEAR = 3, WORD_BYTES = 256 };

enum outcome pgwire_broken(const struct stream *stream, struct fault *fault)
{
    if (stream->is_late)
        return fault_late(fault, "the server has not answered all that it was sent");
    fault_set(fault, FAULT_SERVER, "CONNECTION", "%s", stream->problem);
    return OUTCOME_ERROR;
}

/* A field of an error, "" where it has none. Each is a letter and a text with a zero behind it. */
static const char *field(const struct pgwire_answer *answer, uint8_t letter)
{
    const uint8_t *at = answer->bytes, *const end = at + answer->length;
    while (at < end && *at) {
        const uint8_t *zero = memchr(at, 0, (size_t)(end - at));
        if (!zero)
            break;
        if (*at == letter)
            return (const char *)at + 1;
        at = zero + 1;
    }
    return "";
}

enum outcome pgwire_refused(const struct pgwire_answer *answer, struct fault *fault)
{
    if (answer->kind != 'E') {
        fault_set(fault, FAULT_SERVER, "PROTOCOL", "a message of kind 0x%02X was not expected",
                  (unsigned)(uint8_t)answer->kind);
        return OUTCOME_ERROR;
    }
    const char *code = field(answer, 'C'), *words = field(answer, 'M');
    char short_code[16];
    snprintf(short_code, sizeof short_code, "%.15s", *code ? code : "REFUSED");
    fault_set(fault, FAULT_SERVER, short_code, "%.450s", *words ? words : "an error without words");
    return OUTCOME_ERROR;
}

bool pgwire_read(struct stream *s, struct pgwire_answer *answer)
{
    do {
        if (!stream_need(s, 5))
            return false;
        const uint32_t length = be32toh(get_u32((const uint8_t *)s->bytes + s->begin + 1));
        if (length < 4) {
            stream_fail(s, "a message that is shorter than its own length");
            return false;
        }
        if (!stream_need(s, 1 + (size_t)length))
            return false;
        answer->kind = s->bytes[s->begin];
        answer->bytes = (const uint8_t *)s->bytes + s->begin + 5;
        answer->length = length - 4;
        s->begin += 1 + (size_t)length;
    } while (answer->kind == 'N' || answer->kind == 'S');
    return true;
}

static bool put_words(uint8_t **out, const uint8_t *end, const char *name, const char *value)
{
    for (const char *word = name; word; word = word == name ? value : NULL) {
        const size_t bytes = strlen(word) + 1;
        if (bytes > (size_t)(end - *out))
            return false;
        memcpy(*out, word, bytes);
        *out += bytes;
    }
    return true;
}

static bool send_startup(struct connection *c)
{
    const struct driver *d = c->driver;
    uint8_t message[4 * WORD_BYTES], *out = message + 8;
    const uint8_t *const end = message + sizeof message - 1;
    if (!put_words(&out, end, "user", d->user) || !put_words(&out, end, "database", d->database) ||
        !put_words(&out, end, "application_name", "scale-loadgen"))
        return stream_fail(&c->stream, "the names of user and database are too long");
    *out++ = 0;
    put_u32(message, (uint32_t)(out - message));
    put_u32(message + 4, VERSION_3);
    return stream_write(&c->stream, message, (size_t)(out - message), NULL, 0);
}

static bool send_password(struct connection *c)
{
    const char *password = c->driver->setup->password ? c->driver->setup->password : "";
    const size_t bytes = strlen(password) + 1;
    uint8_t head[5] = {'p'};
    put_u32(head + 1, (uint32_t)(4 + bytes));
    return stream_write(&c->stream, head, sizeof head, password, bytes);
}

/* One message of the login; *is_ready: the server waits for statements. */
static enum outcome take_login(struct connection *c, const struct pgwire_answer *answer,
                               bool *is_ready, struct fault *fault)
{
    if (answer->kind == 'R' && answer->length >= 4) {
        const uint32_t way = be32toh(get_u32(answer->bytes));
        if (way == LOGIN_CLEAR)
            return send_password(c) ? OUTCOME_OK : pgwire_broken(&c->stream, fault);
        if (way == LOGIN_DONE)
            return OUTCOME_OK;
        fault_set(fault, FAULT_SERVER, "LOGIN",
                  "the server asks for login %u; this driver has a password in clear text only",
                  (unsigned)way);
        return OUTCOME_ERROR;
    }
    *is_ready = answer->kind == 'Z';
    return *is_ready || answer->kind == 'K' ? OUTCOME_OK : pgwire_refused(answer, fault);
}

static enum outcome login(struct connection *c, struct fault *fault)
{
    struct pgwire_answer answer;
    bool is_ready = false;
    if (!send_startup(c))
        return pgwire_broken(&c->stream, fault);
    while (!is_ready) {
        if (!pgwire_read(&c->stream, &answer))
            return pgwire_broken(&c->stream, fault);
        const enum outcome outcome = take_login(c, &answer, &is_ready, fault);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    return OUTCOME_OK;
}

/* Sends messages that prepare `count` statements, with a mark behind them, and reads the answers:
 * until the server waits for more, where the mark asks for that. */
static enum outcome prepare(struct connection *c, const uint8_t *text, const uint8_t *end,
                            uint32_t count, const uint8_t *mark, struct fault *fault)
{
    struct pgwire_answer answer;
    if (!stream_write(&c->stream, text, (size_t)(end - text), mark, PGWIRE_MARK_BYTES))
        return pgwire_broken(&c->stream, fault);
    const bool is_sync = mark[0] == pgwire_sync[0];
    for (uint32_t done = 0; done < count || is_sync;) {
        if (!pgwire_read(&c->stream, &answer))
            return pgwire_broken(&c->stream, fault);
        if (answer.kind == 'Z')
            break;
        if (answer.kind != '1')
            return pgwire_refused(&answer, fault);
        done++;
    }
    return OUTCOME_OK;
}

enum outcome pgwire_prepare(struct connection *c, uint32_t part, uint32_t size, const uint8_t *mark,
                            struct fault *fault)
{
    const struct driver *d = c->driver;
    uint8_t *const text = malloc(pgwire_parse_bytes(d));
    if (!text)
        return fault_no_memory(fault);
    const uint8_t *const end = pgwire_put_parse(d, part, size, text);
    const enum outcome outcome = prepare(c, text, end, 1, mark, fault);
    free(text);
    c->is_prepared[part * PGWIRE_SIZES + size] = outcome == OUTCOME_OK;
    return outcome;
}

/* What each transaction needs, and of each part the statement of one row: it says at the start
 * whether the table fits. */
static enum outcome prepare_all(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    uint8_t text[256], *end = pgwire_put_parse_of(text, "begin", "BEGIN");
    end = pgwire_put_parse_of(end, "commit", "COMMIT");
    end = pgwire_put_parse_of(end, "rollback", "ROLLBACK");
    memset(c->is_prepared, 0, (size_t)d->parts * PGWIRE_SIZES * sizeof *c->is_prepared);
    enum outcome outcome = prepare(c, text, end, 3, pgwire_sync, fault);
    for (uint32_t part = 0; outcome == OUTCOME_OK && part < d->parts; part++)
        outcome = pgwire_prepare(c, part, PGWIRE_SIZES - 1, pgwire_sync, fault);
    return outcome;
}

enum outcome pgwire_reach(struct connection *c, struct fault *fault)
{
    const struct driver *d = c->driver;
    if (c->stream.fd >= 0)
        return OUTCOME_OK;
    if (!stream_open(&c->stream, d->host, d->port)) {
        const enum outcome outcome = pgwire_broken(&c->stream, fault);
        fault->is_transient = outcome == OUTCOME_ERROR; /* no row was sent */
        return outcome;
    }
    enum outcome outcome = login(c, fault);
    if (outcome == OUTCOME_OK)
        outcome = prepare_all(c, fault);
    if (outcome != OUTCOME_OK)
        stream_close(&c->stream);
    return outcome;
}
