/* See content.h. */
#include "content.h"

#include "events.h"
#include "output.h"

enum {
    PART_BYTES = 1 << 20,
    CONTENT_BYTES_MAX = 1 << 28 /* per answer; http.c takes no longer one */
};

void content_no_column(void *context, const char *name)
{
    (void)context;
    (void)name;
}

static void put_text(struct json *json, const struct content *content)
{
    json_key(json, "content");
    if (!content->is_body)
        json_open(json, '[');
    json_append(json, &content->part);
    if (!content->is_body)
        json_close(json, ']');
}

static void put_part(struct content *content)
{
    struct json json;
    content->bytes += content->part.used;
    content->is_cut |= content->bytes > CONTENT_BYTES_MAX || output_is_behind();
    if (!content->is_cut) {
        event_begin(&json, "content");
        json_put_whole(&json, "worker", content->worker);
        json_put_whole(&json, "request", content->request);
        json_put_whole(&json, "part", content->parts++);
        put_text(&json, content);
        event_end(&json);
    }
    json_clear(&content->part);
}

static void end_row(struct content *content)
{
    if (content->is_in_row)
        json_close(&content->part, ']');
    content->is_in_row = false;
}

static void on_row(void *context)
{
    struct content *content = context;
    end_row(content);
    if (content->part.used > PART_BYTES)
        put_part(content);
    if (content->is_cut)
        return;
    json_open(&content->part, '[');
    content->is_in_row = true;
}

static void on_value(void *context, const char *text, size_t length, bool is_number)
{
    struct content *content = context;
    if (content->is_in_row)
        json_value(&content->part, text, length, is_number);
}

void content_no_affected(void *context, uint64_t rows)
{
    (void)context;
    (void)rows;
}

/* Not within a character. */
static size_t part_end(const char *text, size_t length)
{
    size_t end = length < PART_BYTES ? length : PART_BYTES;
    while (end < length && end > PART_BYTES - 4 && ((uint8_t)text[end] & 0xc0) == 0x80)
        end--;
    return end;
}

static void on_body(void *context, const char *text, size_t length)
{
    struct content *content = context;
    content->is_body = true;
    for (size_t bytes; (bytes = part_end(text, length)) < length && !content->is_cut;) {
        json_text(&content->part, text, bytes);
        put_part(content);
        text += bytes;
        length -= bytes;
    }
    json_text(&content->part, text, length);
}

struct result_sink content_sink(struct content *content, uint32_t worker, uint64_t request)
{
    json_clear(&content->part);
    *content = (struct content){.part = content->part, .worker = worker, .request = request};
    return (struct result_sink){content,  content_no_column,   on_row,
                                on_value, content_no_affected, on_body};
}

void content_put(struct json *json, struct content *content, bool is_handed)
{
    end_row(content);
    json_put_whole(json, "parts", content->parts);
    if (!is_handed || content->is_cut)
        json_put_null(json, "content");
    else
        put_text(json, content);
}

void content_free(struct content *content)
{
    json_free(&content->part);
}
