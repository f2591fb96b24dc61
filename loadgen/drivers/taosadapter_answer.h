/* Reading the adapter's JSON answers, in place and once through: no tree is built. */
#ifndef SCALE_TAOSADAPTER_ANSWER_H
#define SCALE_TAOSADAPTER_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_at { /* a place in a text that ends with a zero byte */
    char *at;
};

/* The place of the value of `key` in the object at `text`; at is NULL when there is none. */
struct json_at answer_member(char *text, const char *key);
/* Steps into an array: false when it is empty or none. `answer_next` goes to the next member. */
bool answer_enter(struct json_at *place);
bool answer_next(struct json_at *place);
/* Skips the value at the place. */
void answer_skip(struct json_at *place);

int64_t answer_whole(struct json_at place, int64_t otherwise);
/* The value as text: a string with its escapes taken out (in place, so only once), anything else
 * unchanged. The place then is behind the value. */
char *answer_text(struct json_at *place, size_t *length, bool *is_string);

#endif
