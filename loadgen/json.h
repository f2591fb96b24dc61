/* Writes JSON into a buffer that grows. */
#ifndef SCALE_JSON_H
#define SCALE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json {
    char *text;
    size_t used, size;
    bool comma; /* the next member needs a comma before it */
};

void json_clear(struct json *json);
void json_free(struct json *json);
void json_open(struct json *json, char bracket);
void json_close(struct json *json, char bracket);
void json_key(struct json *json, const char *key);
void json_begin(struct json *json, const char *key, char bracket); /* a key and what it opens */
void json_text(struct json *json, const char *text, size_t length);
void json_plain(struct json *json, const char *text, size_t length); /* unchanged */
/* text NULL: null; is_number: unchanged */
void json_value(struct json *json, const char *text, size_t length, bool is_number);
void json_append(struct json *json, const struct json *part);        /* members of another */

/* a text that is NULL and a number that is not finite become null */
void json_put_text(struct json *json, const char *key, const char *text);
void json_put_whole(struct json *json, const char *key, uint64_t value);
void json_put_real(struct json *json, const char *key, double value);
/* units of time since 1970, so many to the ms, as exact ms */
void json_ms(struct json *json, int64_t units, int64_t per_ms);
void json_put_ms(struct json *json, const char *key, int64_t units, int64_t per_ms);
void json_put_null(struct json *json, const char *key);
/* `value`, or null if it is not known */
void json_put_known(struct json *json, const char *key, bool is_known, uint64_t value);
void json_put_bool(struct json *json, const char *key, bool value);

#endif
