/* The encoder of Prometheus' remote write: rows and labels are the tape's, into as little room as
 * the encoder may get. A reader of its own reads the protobuf back and aborts at the first series
 * that is not what the batch says. Snappy, which is the machine's library, is left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/cells.h"
#include "drivers/doubles.h"
#include "drivers/posts.h"
#include "fuzz.h"

enum { ROWS_MAX = 200, PREFIX_MAX = 60, NAME_MAX_HERE = 40, TYPES = 9, TABLES = 2 };

struct message { /* the unread part of a message */
    const uint8_t *at, *end;
};

struct expected { /* the next sample, in the order in which the encoder goes through a batch */
    const struct batch *batch;
    const char *measurement;
    uint32_t slice, column, row;
};

static void require(bool is_right)
{
    if (!is_right)
        abort();
}

static uint64_t read_varint(struct message *m)
{
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        require(m->at < m->end);
        const uint8_t byte = *m->at++;
        value |= shift < 64 ? (uint64_t)(byte & 127) << shift : 0;
        if (byte < 128)
            return value;
    }
    abort();
}

/* The contents of a field that has a length; the key is read. */
static struct message read_field(struct message *m, uint8_t number)
{
    require(m->at < m->end && *m->at++ == (number << 3 | 2));
    const uint64_t length = read_varint(m);
    require(length <= (uint64_t)(m->end - m->at));
    const struct message field = {m->at, m->at + length};
    m->at += length;
    return field;
}

static bool is_text(const struct message *m, const char *text)
{
    return (size_t)(m->end - m->at) == strlen(text) && memcmp(m->at, text, strlen(text)) == 0;
}

/* Goes to the next value that is not left out; false behind the last one. */
static bool find_next(struct expected *e)
{
    for (; e->slice < e->batch->slice_count; e->slice++, e->column = 0)
        for (; e->column < e->batch->column_count; e->column++, e->row = 0)
            for (; e->row < e->batch->slices[e->slice].rows; e->row++)
                if (!cell_is_left_out(e->batch, e->column,
                                      e->batch->slices[e->slice].offset + e->row))
                    return true;
    return false;
}

/* Labels are in the order of their names, none is empty, and those of the series say which it is.
 */
static void check_label(struct message label, const struct expected *e, char last[NAME_MAX_BYTES])
{
    const struct slice *slice = &e->batch->slices[e->slice];
    const struct message name = read_field(&label, 1), value = read_field(&label, 2);
    char text[3 * NAME_MAX_BYTES];
    require(label.at == label.end && value.at < value.end);
    snprintf(text, sizeof text, "%.*s", (int)(name.end - name.at), (const char *)name.at);
    require(strlen(text) < NAME_MAX_BYTES && strcmp(last, text) < 0);
    strcpy(last, text);
    if (strcmp(last, "__name__") == 0) {
        snprintf(text, sizeof text, "%s_%s", e->measurement,
                 e->batch->schema->columns[e->column].name);
        require(is_text(&value, text));
    } else if (strcmp(last, "device") == 0) {
        snprintf(text, sizeof text, "d%u", (unsigned)slice->table);
        require(is_text(&value, text));
    }
}

static void check_sample(struct message sample, const struct expected *e)
{
    const struct column_data *data = &e->batch->columns[e->column];
    const uint32_t row = e->batch->slices[e->slice].offset + e->row;
    double value, wanted;
    require(sample.end - sample.at > 9 && *sample.at++ == (1 << 3 | 1));
    memcpy(&value, sample.at, sizeof value);
    sample.at += sizeof value;
    doubles_read(&wanted, e->batch->schema->columns[e->column].type, data->values, row, 1);
    require(value == wanted || (value != value && wanted != wanted));
    require(*sample.at++ == 2 << 3 && (int64_t)read_varint(&sample) == e->batch->times[row]);
    require(sample.at == sample.end);
}

/* One series: labels, then samples of one column of one slice. */
static void check_series(struct message series, struct expected *e)
{
    char last[NAME_MAX_BYTES] = "";
    require(find_next(e));
    const uint32_t slice = e->slice, column = e->column;
    while (series.at < series.end && *series.at == (1 << 3 | 2))
        check_label(read_field(&series, 1), e, last);
    require(*last && series.at < series.end);
    while (series.at < series.end) {
        require(find_next(e) && e->slice == slice && e->column == column);
        check_sample(read_field(&series, 2), e);
        e->row++;
    }
}

static void fill(void *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)out)[i] = fuzz_take8();
}

/* Any bits in the values, and NULLs where the tape says so; times are any 64 bits. */
static void make_rows(struct batch *b, uint32_t rows, uint32_t first_rows)
{
    b->rows = rows;
    b->slice_count = first_rows < rows ? 2 : 1;
    b->slices[0] = (struct slice){.table = 0, .rows = first_rows};
    b->slices[1] = (struct slice){.table = 1, .rows = rows - first_rows, .offset = first_rows};
    for (uint32_t i = 0; i < rows; i++)
        b->times[i] = (int64_t)((uint64_t)fuzz_take32() << 32 | fuzz_take32());
    for (uint32_t c = 0; c < b->column_count; c++) {
        fill(b->columns[c].values, (size_t)rows * b->schema->columns[c].width);
        for (uint32_t i = 0; i < rows; i++)
            b->columns[c].nulls[i] = fuzz_take8() & 1;
    }
}

/* Encodes the batch body by body, each into memory of exactly its room. */
static void encode(const struct post_kind *kind, const void *encoder, const struct batch *batch,
                   const char *measurement, uint32_t spare)
{
    struct expected next = {.batch = batch, .measurement = measurement};
    const uint64_t room = kind->row_bytes(encoder, 0, batch->column_count) + spare;
    void *place = calloc(1, kind->place_bytes);
    char *body = malloc(room);
    if (!place || !body)
        abort();
    for (uint32_t done = 0, rows; done < batch->rows; done += rows) {
        const char *end = kind->put(encoder, batch, place, body, room, &rows);
        struct message message = {(const uint8_t *)body, (const uint8_t *)end};
        require(end > body || rows > 0);
        require((uint64_t)(end - body) <= room);
        while (message.at < message.end)
            check_series(read_field(&message, 1), &next);
    }
    require(!find_next(&next));
    free(body);
    free(place);
}

/* A name of letters, so that a spec takes it. */
static void take_name(char *out, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        out[i] = (char)('a' + fuzz_take8() % 26);
    out[length] = '\0';
}

/* Text of a tag: any bytes but those that a spec refuses. */
static void take_prefix(char *out, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        const uint8_t byte = fuzz_take8();
        out[i] = (char)(byte <= ' ' || strchr("'\"\\", byte) ? 'x' : byte);
    }
    out[length] = '\0';
}

void fuzz_remote_write(const struct harness *harness)
{
    static const char *const types[TYPES] = {
        "float", "double", "bool", "tinyint", "smallint", "int", "utinyint", "usmallint", "uint"};
    char spec[2048], table[NAME_MAX_HERE + 1], prefix[PREFIX_MAX + 1];
    struct job job;
    struct batch batch;
    take_name(table, 1 + fuzz_take8() % NAME_MAX_HERE);
    take_prefix(prefix, fuzz_take8() % (PREFIX_MAX + 1));
    const uint32_t columns = 1 + fuzz_take8() % TYPES, rows = 1 + fuzz_take8() % ROWS_MAX;
    const uint32_t first_rows = 1 + fuzz_take8() % rows, spare = 8u * fuzz_take8();
    int used = snprintf(spec, sizeof spec,
                        "%srows=1\ntables=%d\ntable=%s\ntag_groups=zone:3\ntag_prefix=%s\n"
                        "tags=__a:int,zone:binary(80)\ncolumns=",
                        harness->spec, TABLES, table, prefix);
    for (uint32_t c = 0; c < columns; c++)
        used += snprintf(spec + used, sizeof spec - (size_t)used, "%sc%u:%s", c ? "," : "",
                         (unsigned)c, types[c]);
    fuzz_spec = spec;
    if (job_read(&job, "", VERB_LOAD) != EXIT_DONE ||
        batch_init(&batch, &job.schema, rows, TABLES, 0, columns, true))
        abort();
    const struct post_form *form = job.setup.method->form;
    const struct post_names names = {
        .spec = &job.spec, .schema = &job.schema, .measurement = table, .variant = form->variant};
    void *encoder = calloc(1, form->kind->encoder_bytes);
    if (!encoder || !form->kind->init(encoder, &names))
        abort();
    make_rows(&batch, rows, first_rows);
    encode(form->kind, encoder, &batch, table, spare);
    form->kind->drop(encoder);
    free(encoder);
    batch_free(&batch);
    job_close(&job);
}
