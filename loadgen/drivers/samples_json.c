/* Series as lines of JSON, each with the values and the times of one run; see samples.h. */
#include "cells.h"
#include "samples.h"

enum { TIME_BYTES = 24, ESCAPE_BYTES = 6, FRAME_BYTES = 64 };

static char *put_text(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

#define PUT(out, literal) put_text(out, literal, sizeof(literal) - 1)

static char *put_escaped(char *out, const char *text, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c < ' ') {
            out = PUT(out, "\\u00");
            *out++ = digits[c >> 4];
            *out++ = digits[c & 15];
            continue;
        }
        if (c == '"' || c == '\\')
            *out++ = '\\';
        *out++ = (char)c;
    }
    return out;
}

static char *put_label(char *out, const char *name, const char *value, size_t length)
{
    *out++ = '"';
    out = put_text(out, name, strlen(name)); /* a plain name */
    out = PUT(out, "\":\"");
    out = put_escaped(out, value, length);
    return PUT(out, "\",");
}

static uint32_t label_bytes(size_t name, size_t value)
{
    return (uint32_t)(6 + name + ESCAPE_BYTES * value);
}

static char *put_value(char *out, enum type type, const struct column_data *data, uint32_t row)
{
    if (type == TYPE_FLOAT)
        return put_float(out, ((const float *)data->values)[row]);
    if (type == TYPE_DOUBLE)
        return put_double(out, ((const double *)data->values)[row]);
    return put_whole(out, cell_whole(type, data->values, row));
}

static char *put_values(const struct run *run, char *out)
{
    const struct batch *batch = run->batch;
    const struct column_data *data = &batch->columns[run->column];
    const enum type type = batch->schema->columns[run->column].type;
    for (uint32_t row = run->first; row < run->first + run->rows; row++)
        if (!cell_is_left_out(batch, run->column, row)) {
            out = put_value(out, type, data, row);
            *out++ = ',';
        }
    return out;
}

static char *put_times(const struct run *run, char *out)
{
    for (uint32_t row = run->first; row < run->first + run->rows; row++)
        if (!cell_is_left_out(run->batch, run->column, row)) {
            out = put_time(run->time, out, run->batch->times[row]);
            *out++ = ',';
        }
    return out;
}

static char *put_run(const struct run *run, char *out)
{
    char *const begin = out;
    out = PUT(out, "{\"metric\":{");
    out = put_text(out, run->labels, run->before);
    out = put_text(out, run->name, run->name_bytes);
    out = put_text(out, run->labels + run->before, run->behind);
    out = PUT(out - 1, "},\"values\":["); /* for the last comma */
    char *const values = out;
    out = put_values(run, out);
    if (out == values)
        return begin;
    out = PUT(out - 1, "],\"timestamps\":[");
    out = put_times(run, out);
    return PUT(out - 1, "]}\n");
}

const struct samples_form samples_json = {
    .frame_bytes = FRAME_BYTES,
    .sample_bytes = NUMBER_BYTES + TIME_BYTES,
    .put_label = put_label,
    .label_bytes = label_bytes,
    .put_run = put_run,
};
