/* Content of answers; see content.h. */
#include "content.h"

#include "chance.h"
#include "clock.h"
#include "worker.h"

enum { STREAM_CHECKS = 5, CONTENT_BYTES = 4 << 20 };

/* The moment in a period of this operation: anywhere in it, each as likely. */
static uint64_t moment(const struct load *load, uint32_t operation, uint64_t period,
                       uint64_t period_ns)
{
    const struct spec *spec = load->spec;
    const uint64_t seed = spec->read_seed ? spec->read_seed : spec->seed;
    const uint64_t chance =
        chance_of(chance_of(chance_of(seed, STREAM_CHECKS), operation), period) >> 11;
    const double part = (double)chance / 9007199254740992.0;
    return load->start_ns + period * period_ns + (uint64_t)(part * (double)period_ns);
}

bool content_is_due(struct load *load, uint32_t operation, uint64_t now_ns)
{
    const uint64_t period_ns = load->spec->check_ms * (NS_PER_SECOND / 1000);
    uint64_t due = atomic_load_explicit(&load->check_due_ns[operation], memory_order_relaxed);
    if (!period_ns || now_ns < due)
        return false;
    const uint64_t next = now_ns < load->start_ns ? 0 : (now_ns - load->start_ns) / period_ns + 1;
    return atomic_compare_exchange_strong(&load->check_due_ns[operation], &due,
                                          moment(load, operation, next, period_ns));
}

static void on_column(void *context, const char *name)
{
    (void)context;
    (void)name;
}

static void end_row(struct content *content)
{
    if (content->is_in_row)
        json_close(&content->rows, ']');
    content->is_in_row = false;
}

static void on_row(void *context)
{
    struct content *content = context;
    end_row(content);
    content->is_cut |= content->rows.used > CONTENT_BYTES;
    if (content->is_cut)
        return;
    json_open(&content->rows, '[');
    content->is_in_row = true;
}

static void on_value(void *context, const char *text, size_t length, bool is_number)
{
    struct content *content = context;
    if (!content->is_in_row)
        return;
    if (!text)
        json_plain(&content->rows, "null", 4);
    else if (is_number)
        json_plain(&content->rows, text, length);
    else
        json_text(&content->rows, text, length);
}

static void on_affected(void *context, uint64_t rows)
{
    (void)context;
    (void)rows;
}

struct result_sink content_sink(struct content *content)
{
    json_clear(&content->rows);
    content->is_in_row = content->is_cut = false;
    return (struct result_sink){content, on_column, on_row, on_value, on_affected};
}

void content_put(struct json *json, struct content *content)
{
    if (!content) {
        json_put_null(json, "content");
        return;
    }
    end_row(content);
    json_key(json, "content");
    json_open(json, '[');
    json_append(json, &content->rows);
    json_close(json, ']');
}

void content_free(struct content *content)
{
    json_free(&content->rows);
}
