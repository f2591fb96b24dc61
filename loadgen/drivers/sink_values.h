/* Values for a sink, as texts that read back the same. A time is ns since 1970; a number that is
 * not finite is a text, for JSON has none. */
#ifndef SCALE_SINK_VALUES_H
#define SCALE_SINK_VALUES_H

#include "driver.h"
#include "numbers.h"

static inline void sink_null(const struct result_sink *sink)
{
    sink->value(sink->context, NULL, 0, false);
}

static inline void sink_text(const struct result_sink *sink, const char *text, size_t length)
{
    sink->value(sink->context, text, length, false);
}

static inline void sink_whole(const struct result_sink *sink, int64_t value)
{
    char text[NUMBER_BYTES];
    sink->value(sink->context, text, (size_t)(put_whole(text, value) - text), true);
}

static inline void sink_unsigned(const struct result_sink *sink, uint64_t value)
{
    char text[NUMBER_BYTES];
    sink->value(sink->context, text, (size_t)(put_unsigned(text, value) - text), true);
}

static inline void sink_double(const struct result_sink *sink, double value)
{
    char text[NUMBER_BYTES];
    if (!isfinite(value)) {
        const char *const word = isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
        sink_text(sink, word, strlen(word));
        return;
    }
    sink->value(sink->context, text, (size_t)(put_double(text, value) - text), true);
}

static inline void sink_float(const struct result_sink *sink, float value)
{
    char text[NUMBER_BYTES];
    if (!isfinite(value))
        sink_double(sink, (double)value);
    else
        sink->value(sink->context, text, (size_t)(put_float(text, value) - text), true);
}

/* Where its content is checked. */
static inline void sink_body(struct answer *answer, const char *text, size_t length)
{
    if (!answer->sink || !answer->sink->body)
        return;
    answer->sink->body(answer->sink->context, text, length);
    answer->is_handed = true;
}

#endif
