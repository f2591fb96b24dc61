/* SQL statements through libtaos, row by row; see tdengine_parts.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "taosadapter.h"
#include "tdengine_parts.h"
#include "tdengine_types.h"

/* A value where libtaos put it, aligned or not. */
#define READ(type, from) (((const struct { type v; } __attribute__((packed)) *)(from))->v)

static int print_real(char *out, size_t size, double value, int digits, bool *is_number)
{
    *is_number = isfinite(value);
    return snprintf(out, size, "%.*g", digits, value);
}

/* A fixed-width value as text; the length, or -1 for a type that has a length of its own. */
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

/* Bytes that are no text, in hexadecimal, cut where the room ends. */
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

static void tell_value(int type, const void *value, int length, const struct result_sink *sink)
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

void tdengine_tell_rows(const struct libtaos *t, TAOS_RES *result, const struct result_sink *sink)
{
    int columns = t->field_count(result);
    const struct taos_field *fields = t->fields(result);
    void **row;
    for (int i = 0; i < columns; i++)
        sink->column(sink->context, fields[i].name);
    while ((row = t->fetch_row(result)) != NULL) {
        const int *lengths = t->lengths(result);
        columns = t->field_count(result); /* a message has them with its first row only */
        fields = t->fields(result);
        sink->row(sink->context);
        for (int i = 0; i < columns; i++)
            tell_value(fields[i].type, row[i], lengths[i], sink);
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
        tdengine_tell_rows(t, result, sink);
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
