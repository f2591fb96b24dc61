/* The content of an answer in its `asked` event, or in `content` events before it: rows as JSON, or
 * the server's text. */
#ifndef SCALE_CONTENT_H
#define SCALE_CONTENT_H

#include "drivers/driver.h"
#include "json.h"

struct content { /* the current answer; empty until its first row */
    struct json part; /* not yet in a `content` event */
    uint64_t bytes; /* bytes of the earlier parts */
    uint64_t request; /* number of the answer's request, within its worker */
    uint32_t worker, parts;
    bool is_in_row;
    bool is_body; /* the server's text in place of rows */
    bool is_cut; /* too long, or standard output is not read */
};

struct result_sink content_sink(struct content *content, uint32_t worker, uint64_t request);

/* Writes "parts":N,"content":[[...],...] or "content":"...", the last keys of `asked`. null: not
 * passed, or not complete. */
void content_put(struct json *json, struct content *content, bool is_handed);

void content_free(struct content *content);

/* Functions of a sink that ignores them. */
void content_no_column(void *context, const char *name);
void content_no_affected(void *context, uint64_t rows);

#endif
