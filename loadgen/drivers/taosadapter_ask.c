/* Queries by REST: the answer is JSON. Its rows are counted; for a digest its values are read as
 * what the columns' types say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../digest.h"
#include "sink_values.h"
#include "taosadapter.h"
#include "taosadapter_answer.h"
#include "taosadapter_parts.h"

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

/* The kinds of the columns; returns how many there are. `text` is written to: a copy is read. */
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

/* "2017-07-14T02:40:00.123Z", or with an offset, in ns since 1970. */
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

/* A number of the adapter is one in JSON, and so is a truth. */
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

/* All values, for the digest and the sink. */
static void take_rows(struct json_at row, const uint8_t *kinds, struct answer *answer)
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
    uint8_t kinds[COLUMNS_READ_MAX] = {0}; /* an answer may hold more columns than it announces */
    char *text;
    size_t bytes;
    const enum outcome outcome = adapter_post(c, statement, length, &text, &bytes, fault);
    if (outcome != OUTCOME_OK) /* a query fails for itself; a way that is broken passes, or not */
        return fault->is_late ? OUTCOME_FATAL : OUTCOME_ERROR;
    const struct json_at meta = answer_member(text, "column_meta");
    const struct json_at data = answer_member(text, "data");
    const int64_t rows = answer_whole(answer_member(text, "rows"), 0);
    const uint32_t columns = read_columns(meta, kinds);
    answer->rows = rows > 0 ? (uint64_t)rows : 0;
    answer->values = answer->rows * columns;
    answer->bytes = bytes;
    if (answer->wants_digest)
        take_rows(data, kinds, answer);
    answer->is_handed = answer->sink != NULL;
    return OUTCOME_OK;
}
