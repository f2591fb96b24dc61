/* Series as protobuf messages; see samples.h. A field is its key (number << 3 | how it is written)
 * and its value: 1 eight bytes, 2 a length and so many bytes, 0 a varint. */
#include "cells.h"
#include "doubles.h"
#include "samples.h"

enum {
    LENGTH_BYTES = 4, /* of a body of less than 2^28 bytes */
    VARINT_BYTES = 10,
    KEY_1_DOUBLE = 1 << 3 | 1,
    KEY_1_BYTES = 1 << 3 | 2,
    KEY_2_BYTES = 2 << 3 | 2,
    KEY_2_VARINT = 2 << 3,
    SAMPLE_BYTES = 3 + 1 + 8 + VARINT_BYTES,
    CHUNK = 64 /* values that are made doubles at a time */
};

static char *put_varint(char *out, uint64_t value)
{
    for (; value >= 128; value >>= 7)
        *out++ = (char)(value | 128);
    *out++ = (char)value;
    return out;
}

static char *put_bytes(char *out, char key, const char *text, size_t length)
{
    *out++ = key;
    out = put_varint(out, length);
    memcpy(out, text, length);
    return out + length;
}

static uint32_t varint_bytes(uint64_t value)
{
    uint32_t bytes = 1;
    while (value >>= 7)
        bytes++;
    return bytes;
}

static char *put_label(char *out, const char *name, const char *value, size_t length)
{
    const size_t named = strlen(name);
    *out++ = KEY_1_BYTES;
    out = put_varint(out, 2 + varint_bytes(named) + named + varint_bytes(length) + length);
    out = put_bytes(out, KEY_1_BYTES, name, named);
    return put_bytes(out, KEY_2_BYTES, value, length);
}

static uint32_t label_bytes(size_t name, size_t value)
{
    return (uint32_t)(3 + 3 * LENGTH_BYTES + name + value);
}

static inline char *put_sample(char *out, double value, int64_t time)
{
    out[0] = KEY_2_BYTES;
    out[2] = KEY_1_DOUBLE;
    memcpy(out + 3, &value, sizeof value);
    out[11] = KEY_2_VARINT;
    char *const end = put_varint(out + 12, (uint64_t)time);
    out[1] = (char)(end - (out + 2));
    return end;
}

static char *put_samples(const struct run *run, char *out)
{
    const struct batch *batch = run->batch;
    const struct column_data *data = &batch->columns[run->column];
    const enum type type = batch->schema->columns[run->column].type;
    double values[CHUNK];
    for (uint32_t done = 0, n; done < run->rows; done += n) {
        const uint32_t first = run->first + done;
        n = run->rows - done < CHUNK ? run->rows - done : CHUNK;
        doubles_read(values, type, data->values, first, n);
        for (uint32_t i = 0; i < n; i++)
            if (!data->nulls || !cell_is_left_out(batch, run->column, first + i))
                out = put_sample(out, values[i], batch->times[first + i]);
    }
    return out;
}

static char *put_text(char *out, const char *text, size_t length)
{
    memcpy(out, text, length);
    return out + length;
}

/* The length stands before what it is the length of, and takes more or less bytes: the series is
 * put behind the most that it takes, and moved. */
static char *put_run(const struct run *run, char *out)
{
    char *const series = out + 1 + LENGTH_BYTES;
    char *at = put_text(series, run->labels, run->before);
    at = put_text(at, run->name, run->name_bytes);
    at = put_text(at, run->labels + run->before, run->behind);
    const char *const end = put_samples(run, at);
    if (end == at)
        return out;
    const size_t length = (size_t)(end - series);
    *out++ = KEY_1_BYTES;
    out = put_varint(out, length);
    memmove(out, series, length);
    return out + length;
}

const struct samples_form samples_protobuf = {
    .frame_bytes = 1 + LENGTH_BYTES,
    .sample_bytes = SAMPLE_BYTES,
    .put_label = put_label,
    .label_bytes = label_bytes,
    .put_run = put_run,
};
