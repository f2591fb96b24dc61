/* See pg_session.h. */
#include "pg_session.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pg_values.h"

const uint8_t pg_flush[PG_MARK_BYTES] = {'H', 0, 0, 0, 4};
const uint8_t pg_sync[PG_MARK_BYTES] = {'S', 0, 0, 0, 4};

enum { DEFAULT_PORT = 5432, VERSION_3 = 196608, LOGIN_DONE = 0, LOGIN_CLEAR = 3, WORD_BYTES = 256 };

/* A field is a letter and a text that ends with a zero byte; "" if missing. */
static const char *field(const struct pg_answer *answer, uint8_t letter)
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

enum outcome pg_refused(const struct pg_answer *answer, struct fault *fault)
{
    if (answer->kind != 'E')
        return fault_set(fault, FAULT_SERVER, "PROTOCOL",
                         "a message of kind 0x%02X was not expected",
                         (unsigned)(uint8_t)answer->kind);
    const char *code = field(answer, 'C'), *words = field(answer, 'M');
    char short_code[16];
    snprintf(short_code, sizeof short_code, "%.15s", *code ? code : "REFUSED");
    return fault_set(fault, FAULT_SERVER, short_code, "%.450s",
                     *words ? words : "an error without words");
}

bool pg_read(struct stream *s, struct pg_answer *answer)
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

static bool put_login_words(uint8_t **out, const uint8_t *end, const char *name, const char *value)
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

static bool send_startup(struct stream *s, const struct pg_server *server)
{
    uint8_t message[4 * WORD_BYTES], *out = message + 8;
    const uint8_t *const end = message + sizeof message - 1;
    if (!put_login_words(&out, end, "user", server->user) ||
        !put_login_words(&out, end, "database", server->database) ||
        !put_login_words(&out, end, "application_name", "scale-loadgen"))
        return stream_fail(s, "the names of user and database are too long");
    *out++ = 0;
    put_u32(message, (uint32_t)(out - message));
    put_u32(message + 4, VERSION_3);
    return stream_write(s, message, (size_t)(out - message), NULL, 0);
}

static bool send_password(struct stream *s, const struct pg_server *server)
{
    const char *password = server->password ? server->password : "";
    const size_t bytes = strlen(password) + 1;
    uint8_t head[5] = {'p'};
    put_u32(head + 1, (uint32_t)(4 + bytes));
    return stream_write(s, head, sizeof head, password, bytes);
}

/* *is_ready: the server waits for statements. */
static enum outcome take_login(struct stream *s, const struct pg_server *server,
                               const struct pg_answer *answer, bool *is_ready, struct fault *fault)
{
    if (answer->kind == 'R' && answer->length >= 4) {
        const uint32_t way = be32toh(get_u32(answer->bytes));
        if (way == LOGIN_CLEAR)
            return send_password(s, server) ? OUTCOME_OK : stream_fault(s, fault);
        if (way == LOGIN_DONE)
            return OUTCOME_OK;
        return fault_set(
            fault, FAULT_SERVER, "LOGIN",
            "the server asks for login %u; this driver has a password in clear text only",
            (unsigned)way);
    }
    *is_ready = answer->kind == 'Z';
    return *is_ready || answer->kind == 'K' ? OUTCOME_OK : pg_refused(answer, fault);
}

struct pg_server pg_server_of(const struct driver_setup *setup, const char *user,
                              const char *database)
{
    const struct spec *spec = setup->spec;
    return (struct pg_server){.host = spec->host ? spec->host : "localhost",
                              .user = spec->user ? spec->user : user,
                              .database = spec->database ? spec->database : database,
                              .password = setup->password,
                              .port = spec->port ? (uint16_t)spec->port : DEFAULT_PORT};
}

enum outcome pg_connect(struct stream *s, const struct pg_server *server, struct fault *fault)
{
    struct pg_answer answer;
    bool is_ready = false;
    if (!stream_open(s, server->host, server->port))
        return stream_fault_unsent(s, fault);
    if (!send_startup(s, server))
        return stream_fault(s, fault);
    while (!is_ready) {
        if (!pg_read(s, &answer))
            return stream_fault(s, fault);
        const enum outcome outcome = take_login(s, server, &answer, &is_ready, fault);
        if (outcome != OUTCOME_OK)
            return outcome;
    }
    return OUTCOME_OK;
}

enum outcome pg_prepare(struct stream *s, const uint8_t *text, const uint8_t *end, uint32_t count,
                        const uint8_t *mark, struct fault *fault)
{
    struct pg_answer answer;
    if (!stream_write(s, text, (size_t)(end - text), mark, PG_MARK_BYTES))
        return stream_fault(s, fault);
    const bool is_sync = mark[0] == pg_sync[0];
    for (uint32_t done = 0; done < count || is_sync;) {
        if (!pg_read(s, &answer))
            return stream_fault(s, fault);
        if (answer.kind == 'Z')
            break;
        if (answer.kind != '1')
            return pg_refused(&answer, fault);
        done++;
    }
    return OUTCOME_OK;
}

unsigned pg_oid(enum type type)
{
    static const uint16_t oids[TYPE_COUNT] = {
        [TYPE_BOOL] = OID_BOOL,     [TYPE_TINYINT] = OID_INT2,   [TYPE_UTINYINT] = OID_INT2,
        [TYPE_SMALLINT] = OID_INT2, [TYPE_USMALLINT] = OID_INT4, [TYPE_INT] = OID_INT4,
        [TYPE_UINT] = OID_INT8,     [TYPE_BIGINT] = OID_INT8,    [TYPE_FLOAT] = OID_FLOAT4,
        [TYPE_DOUBLE] = OID_FLOAT8};
    return oids[type] ? oids[type] : OID_VARCHAR;
}

enum outcome pg_take_columns(const struct driver_setup *setup, const char *writer,
                             struct column **columns, uint32_t *first, uint32_t *count,
                             struct fault *fault)
{
    *first = (uint32_t)setup->spec->partial_from;
    *count = spec_column_count(setup->spec, setup->schema->column_count);
    *columns = calloc(*count, sizeof **columns);
    if (!*columns)
        return fault_no_memory(fault);
    for (uint32_t i = 0; i < *count; i++) {
        struct column *column = &(*columns)[i];
        *column = setup->schema->columns[*first + i];
        if (column->type == TYPE_TIMESTAMP)
            column->type = TYPE_BIGINT;
        if (column->type == TYPE_UBIGINT || column->type == TYPE_VARBINARY ||
            column->type == TYPE_GEOMETRY)
            return fault_spec(fault, "columns: %s has no way to write %s:%s", writer, column->name,
                              type_name(column->type));
    }
    return OUTCOME_OK;
}

uint8_t *pg_end_message(uint8_t *begin, char kind, uint8_t *out)
{
    *begin = (uint8_t)kind;
    put_u32(begin + 1, (uint32_t)(out - begin - 1));
    return out;
}

uint8_t *pg_put_words(uint8_t *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    out += vsprintf((char *)out, format, arguments);
    va_end(arguments);
    return out;
}

uint64_t pg_rows(const struct pg_answer *answer)
{
    static const char insert[] = "INSERT 0 ";
    uint64_t rows = 0;
    uint32_t at = sizeof insert - 1;
    if (answer->length <= at || memcmp(answer->bytes, insert, at) != 0)
        return 0;
    for (; at < answer->length && answer->bytes[at] >= '0' && answer->bytes[at] <= '9'; at++)
        rows = 10 * rows + (uint64_t)(answer->bytes[at] - '0');
    return rows;
}

enum outcome pg_acknowledge(uint64_t acked, const struct batch *batch, uint64_t *rows_acked,
                            struct fault *fault)
{
    if (acked == batch->rows) {
        *rows_acked = acked;
        return OUTCOME_OK;
    }
    return fault_set(fault, FAULT_SERVER, "COUNT",
                     "the server says that it inserted %" PRIu64 " of %" PRIu32 " rows", acked,
                     batch->rows);
}

uint8_t *pg_put_execute(uint8_t *out)
{
    static const uint8_t execute[] = {'E', 0, 0, 0, 9, 0, 0, 0, 0, 0};
    memcpy(out, execute, sizeof execute);
    return out + sizeof execute;
}
