/* The content of an answer, as the rows of its `asked` event: the driver puts values, this makes
 * JSON of them. Which answers are chosen is a matter of time: the first of each operation, then
 * the first that is made after a moment drawn in each period of `check_ms`. So a rare or a slow
 * operation has its answers checked as often as the others. It compares nothing. */
#ifndef SCALE_CONTENT_H
#define SCALE_CONTENT_H

#include "drivers/driver.h"
#include "json.h"

struct load;

struct content { /* of the answer at hand; empty until its first row */
    struct json rows;
    bool is_in_row;
    bool is_cut; /* it is too long: the rows after the first ones are left out */
};

/* Whether the request of this operation that is made now is one whose answer is checked; true for
 * one worker only in each period. */
bool content_is_due(struct load *load, uint32_t operation, uint64_t now_ns);

/* A sink that fills `content`, which is emptied. */
struct result_sink content_sink(struct content *content);

/* "content":[[...],...], the last key of its event, so that a reader can leave it out; null when
 * `content` is NULL: its driver hands over none. */
void content_put(struct json *json, struct content *content);

void content_free(struct content *content);

#endif
