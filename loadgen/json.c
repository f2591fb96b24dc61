/* See json.h. */
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "utf8.h"

static void put(struct json *json, const char *text, size_t length)
{
    if (json->used + length + 1 > json->size) {
        const size_t size = (json->used + length + 1) * 2 + 256;
        char *larger = realloc(json->text, size);
        if (!larger)
            abort();
        json->text = larger;
        json->size = size;
    }
    memcpy(json->text + json->used, text, length);
    json->used += length;
    json->text[json->used] = '\0';
}

static void separate(struct json *json)
{
    if (json->comma)
        put(json, ",", 1);
    json->comma = true;
}

void json_clear(struct json *json)
{
    json->used = 0;
    json->comma = false;
}

void json_free(struct json *json)
{
    free(json->text);
    *json = (struct json){0};
}

void json_open(struct json *json, char bracket)
{
    separate(json);
    put(json, &bracket, 1);
    json->comma = false;
}

void json_close(struct json *json, char bracket)
{
    put(json, &bracket, 1);
    json->comma = true;
}

/* Bytes that are not UTF-8 become U+FFFD. */
static void put_escaped(struct json *json, const char *text, size_t length)
{
    size_t plain = 0; /* start of what needs no escape */
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        char escape[8];
        bool is_cut;
        const size_t bytes = c < 0x80 ? 1 : utf8_length(text + i, length - i, &is_cut);
        if (bytes > 1)
            i += bytes - 1;
        if (bytes > 0 && c >= 0x20 && c != '"' && c != '\\')
            continue;
        put(json, text + plain, i - plain);
        plain = i + 1;
        if (c == '"' || c == '\\')
            snprintf(escape, sizeof escape, "\\%c", c);
        else if (c == '\n')
            strcpy(escape, "\\n");
        else if (bytes == 0)
            strcpy(escape, "\\ufffd");
        else
            snprintf(escape, sizeof escape, "\\u%04x", c);
        put(json, escape, strlen(escape));
    }
    put(json, text + plain, length - plain);
}

void json_text(struct json *json, const char *text, size_t length)
{
    separate(json);
    put(json, "\"", 1);
    put_escaped(json, text, length);
    put(json, "\"", 1);
}

void json_key(struct json *json, const char *key)
{
    json_text(json, key, strlen(key));
    put(json, ":", 1);
    json->comma = false;
}

void json_begin(struct json *json, const char *key, char bracket)
{
    json_key(json, key);
    json_open(json, bracket);
}

void json_plain(struct json *json, const char *text, size_t length)
{
    separate(json);
    put(json, text, length);
}

void json_value(struct json *json, const char *text, size_t length, bool is_number)
{
    if (!text)
        json_plain(json, "null", 4);
    else if (is_number)
        json_plain(json, text, length);
    else
        json_text(json, text, length);
}

void json_append(struct json *json, const struct json *part)
{
    if (part->used)
        json_plain(json, part->text, part->used);
}

void json_put_text(struct json *json, const char *key, const char *text)
{
    if (!text) {
        json_put_null(json, key);
        return;
    }
    json_key(json, key);
    json_text(json, text, strlen(text));
}

void json_put_whole(struct json *json, const char *key, uint64_t value)
{
    char text[24];
    json_key(json, key);
    json_plain(json, text, (size_t)snprintf(text, sizeof text, "%" PRIu64, value));
}

void json_put_real(struct json *json, const char *key, double value)
{
    char text[40];
    if (!isfinite(value)) {
        json_put_null(json, key);
        return;
    }
    json_key(json, key);
    json_plain(json, text, (size_t)snprintf(text, sizeof text, "%.15g", value));
}

void json_ms(struct json *json, int64_t units, int64_t per_ms)
{
    char text[40];
    const int64_t ms = units / per_ms, rest = units % per_ms;
    const int digits = per_ms == 1000 ? 3 : 6;
    const int used = rest == 0
                         ? snprintf(text, sizeof text, "%" PRId64, ms)
                         : snprintf(text, sizeof text, "%" PRId64 ".%0*" PRId64, ms, digits, rest);
    json_plain(json, text, (size_t)used);
}

void json_put_ms(struct json *json, const char *key, int64_t units, int64_t per_ms)
{
    json_key(json, key);
    json_ms(json, units, per_ms);
}

void json_put_null(struct json *json, const char *key)
{
    json_key(json, key);
    json_plain(json, "null", 4);
}

void json_put_known(struct json *json, const char *key, bool is_known, uint64_t value)
{
    if (is_known)
        json_put_whole(json, key, value);
    else
        json_put_null(json, key);
}

void json_put_bool(struct json *json, const char *key, bool value)
{
    json_key(json, key);
    json_plain(json, value ? "true" : "false", value ? 4 : 5);
}
