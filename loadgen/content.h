/* The content of an answer, as its `asked` event and, of a long one, the `content` events before
 * it: a driver puts rows, this makes JSON of them, or it puts the whole text of the server. Which
 * answers are chosen is a matter of time: the first of each operation, then the first that is made
 * after a moment drawn in each period of `check_ms`. So a rare or a slow operation has its answers
 * checked as often as the others. Long answers are chosen less often, so that the content of all
 * operations together stays below CONTENT_BYTES_PER_S. It compares nothing. */
#ifndef SCALE_CONTENT_H
#define SCALE_CONTENT_H

#include "drivers/driver.h"
#include "json.h"

struct load;

struct content { /* of the answer at hand; empty until its first row */
    struct json part; /* what is not yet in a `content` event */
    uint64_t bytes;   /* of the parts before it */
    uint64_t request; /* of the worker: the number of the answer's request */
    uint32_t worker, parts;
    bool is_in_row;
    bool is_body; /* the text of the server, in place of rows */
    bool is_cut;  /* it is too long, or nobody reads standard output: what follows is left out */
};

/* Whether the request of this operation that is made now is one whose answer is checked; true for
 * one worker only in each period. */
bool content_is_due(struct load *load, uint32_t operation, uint64_t now_ns);

/* A sink that fills `content`, which is emptied. */
struct result_sink content_sink(struct content *content, uint32_t worker, uint64_t request);

/* "parts":N,"content":[[...],...] or "content":"...", the last keys of the `asked` event, so that a
 * reader can leave the content out. It follows the N `content` events of the same request. The
 * content is null when it was not handed over, or not whole. */
void content_put(struct json *json, struct content *content, bool is_handed);

/* Moves the next moment of the operation, after an answer with this content to a request that was
 * sent at that time. */
void content_rest(struct load *load, uint32_t operation, const struct content *content,
                  uint64_t sent_ns);

void content_free(struct content *content);

#endif
