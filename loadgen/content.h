/* The content of an answer, as its `asked` event and, of a long one, the `content` events before
 * it: a driver puts rows, this makes JSON of them, or it puts the whole text of the server. It
 * compares nothing. */
#ifndef SCALE_CONTENT_H
#define SCALE_CONTENT_H

#include "drivers/driver.h"
#include "json.h"

struct content { /* the current answer; empty until its first row */
    struct json part; /* what is not yet in a `content` event */
    uint64_t bytes;   /* bytes of the earlier parts */
    uint64_t request; /* number of the answer's request, within its worker */
    uint32_t worker, parts;
    bool is_in_row;
    bool is_body; /* the text of the server, in place of rows */
    bool is_cut;  /* it is too long, or nobody reads standard output: what follows is left out */
};

/* A sink that fills `content`, which is emptied. */
struct result_sink content_sink(struct content *content, uint32_t worker, uint64_t request);

/* "parts":N,"content":[[...],...] or "content":"...", the last keys of the `asked` event, so that a
 * reader can leave the content out. It follows the N `content` events of the same request. The
 * content is null when it was not handed over, or not whole. */
void content_put(struct json *json, struct content *content, bool is_handed);

uint64_t content_bytes(const struct content *content);
void content_free(struct content *content);

#endif
