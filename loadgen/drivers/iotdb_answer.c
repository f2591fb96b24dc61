/* Answers of IoTDB to statements; see iotdb_answer.h. */
#include "iotdb_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_BYTES = 40, NAME_BYTES = 256 };

struct value_column {
    struct thrift_text name, type;
    struct thrift_in values; /* of the rows that have one */
    struct thrift_text present; /* bit 7 of byte 0 is the first row's */
};

struct rows_answer {
    struct iotdb_status status;
    struct value_column *columns, *named; /* as they come; in the order of their names */
    uint32_t column_count, value_count;
    struct thrift_in times;
    bool has_times, has_more;
    bool is_short; /* of memory */
};

static struct thrift_in reader_of(struct thrift_text text)
{
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    return (struct thrift_in){.at = bytes, .end = bytes + text.length};
}

static void take_texts(struct thrift_in *in, struct rows_answer *answer, bool is_type)
{
    const uint32_t count = thrift_take_list(in, THRIFT_STRING);
    if (!answer->named) {
        answer->named = calloc(count + 1, sizeof *answer->named);
        answer->column_count = count;
        answer->is_short = !answer->named;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct thrift_text text = thrift_take_text(in);
        if (answer->named && i < answer->column_count && is_type)
            answer->named[i].type = text;
        else if (answer->named && i < answer->column_count)
            answer->named[i].name = text;
    }
}

static void take_columns(struct thrift_in *in, struct rows_answer *answer, bool is_bitmap)
{
    const uint32_t count = thrift_take_list(in, THRIFT_STRING);
    if (!answer->columns) {
        answer->columns = calloc(count + 1, sizeof *answer->columns);
        answer->value_count = count;
        answer->is_short |= !answer->columns;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct thrift_text text = thrift_take_text(in);
        if (answer->columns && i < answer->value_count && is_bitmap)
            answer->columns[i].present = text;
        else if (answer->columns && i < answer->value_count)
            answer->columns[i].values = reader_of(text);
    }
}

/* A TSQueryDataSet: times, values of each column, bitmaps of the rows that have one. */
static void take_data(struct thrift_in *in, struct rows_answer *answer)
{
    struct thrift_field field;
    while (thrift_take_field(in, &field))
        if (field.id == 1 && field.type == THRIFT_STRING)
            answer->times = reader_of(thrift_take_text(in));
        else if ((field.id == 2 || field.id == 3) && field.type == THRIFT_LIST)
            take_columns(in, answer, field.id == 3);
        else
            thrift_skip(in, field.type);
}

/* Where the values of each name are: some names may share a column. */
static void take_places(struct thrift_in *in, struct rows_answer *answer, uint32_t *place)
{
    thrift_take8(in), thrift_take8(in);
    for (uint32_t left = thrift_take32(in); left > 0 && !in->is_bad; left--) {
        const struct thrift_text name = thrift_take_text(in);
        const uint32_t at = thrift_take32(in);
        for (uint32_t i = 0; i < answer->column_count; i++)
            if (answer->named[i].name.length == name.length &&
                memcmp(answer->named[i].name.bytes, name.bytes, name.length) == 0)
                place[i] = at;
    }
}

/* The structure, but for the places of its columns, whose reader is kept. */
static void take_response(struct thrift_in *in, struct rows_answer *answer,
                          struct thrift_in *places)
{
    struct thrift_field field;
    answer->has_times = true;
    while (thrift_take_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_STRUCT)
            iotdb_take_status(in, &answer->status);
        else if ((field.id == 3 || field.id == 6) && field.type == THRIFT_LIST)
            take_texts(in, answer, field.id == 6);
        else if (field.id == 5 && field.type == THRIFT_BOOL)
            answer->has_times = !thrift_take8(in);
        else if (field.id == 7 && field.type == THRIFT_STRUCT)
            take_data(in, answer);
        else if (field.id == 14 && field.type == THRIFT_BOOL)
            answer->has_more = thrift_take8(in);
        else {
            if (field.id == 9 && field.type == THRIFT_MAP)
                *places = *in;
            thrift_skip(in, field.type);
        }
    }
}

/* Gives each name its values; false where some have none. */
static bool join(struct rows_answer *answer, struct thrift_in *places)
{
    uint32_t *place = calloc(answer->column_count + 1, sizeof *place);
    bool is_whole = place != NULL;
    for (uint32_t i = 0; is_whole && i < answer->column_count; i++)
        place[i] = i;
    if (is_whole && places->at)
        take_places(places, answer, place);
    for (uint32_t i = 0; is_whole && i < answer->column_count; i++) {
        is_whole = place[i] < answer->value_count;
        if (is_whole) {
            answer->named[i].values = answer->columns[place[i]].values;
            answer->named[i].present = answer->columns[place[i]].present;
        }
    }
    free(place);
    return is_whole;
}

static void tell_number(const struct result_sink *sink, double value, int digits)
{
    char text[TEXT_BYTES];
    const int length = snprintf(text, sizeof text, "%.*g", digits, value);
    sink->value(sink->context, text, (size_t)length, isfinite(value));
}

static void tell_whole(const struct result_sink *sink, int64_t value)
{
    char text[TEXT_BYTES];
    const int length = snprintf(text, sizeof text, "%" PRId64, value);
    sink->value(sink->context, text, (size_t)length, true);
}

static bool is_type(const struct value_column *column, const char *name)
{
    return column->type.length == strlen(name) &&
           memcmp(column->type.bytes, name, column->type.length) == 0;
}

/* False for a value that is not there, or of a type that is not read here. */
static bool tell_value(struct value_column *column, const struct result_sink *sink)
{
    struct thrift_in *in = &column->values;
    if (is_type(column, "INT32") || is_type(column, "DATE")) {
        tell_whole(sink, (int32_t)thrift_take32(in));
    } else if (is_type(column, "INT64") || is_type(column, "TIMESTAMP")) {
        tell_whole(sink, (int64_t)thrift_take64(in));
    } else if (is_type(column, "FLOAT")) {
        const uint32_t bits = thrift_take32(in);
        float value;
        memcpy(&value, &bits, sizeof value);
        tell_number(sink, (double)value, 9);
    } else if (is_type(column, "DOUBLE")) {
        const uint64_t bits = thrift_take64(in);
        double value;
        memcpy(&value, &bits, sizeof value);
        tell_number(sink, value, 17);
    } else if (is_type(column, "BOOLEAN")) {
        const bool value = thrift_take8(in);
        sink->value(sink->context, value ? "true" : "false", value ? 4 : 5, false);
    } else if (is_type(column, "TEXT") || is_type(column, "STRING")) {
        const struct thrift_text text = thrift_take_text(in);
        sink->value(sink->context, text.bytes, text.length, false);
    } else {
        return false;
    }
    return !in->is_bad;
}

static bool is_present(const struct value_column *column, uint64_t row)
{
    return row / 8 < column->present.length &&
           ((uint8_t)column->present.bytes[row / 8] & 0x80u >> row % 8);
}

/* As many rows as there are times; if there are none, as their bitmaps or values say. */
static uint64_t rows_of(const struct rows_answer *answer)
{
    uint64_t rows = (uint64_t)(answer->times.end - answer->times.at) / 8;
    if (answer->times.end != answer->times.at)
        return rows;
    for (uint32_t i = 0; i < answer->column_count; i++) {
        const struct thrift_text *bits = &answer->named[i].present;
        for (uint64_t row = (uint64_t)bits->length * 8; row > rows; row--)
            if (is_present(&answer->named[i], row - 1))
                rows = row;
    }
    return rows;
}

static bool tell_rows(struct rows_answer *answer, const struct result_sink *sink)
{
    const uint64_t rows = rows_of(answer);
    char name[NAME_BYTES];
    if (answer->has_times)
        sink->column(sink->context, "Time");
    for (uint32_t i = 0; i < answer->column_count; i++) {
        const struct thrift_text *said = &answer->named[i].name;
        snprintf(name, sizeof name, "%.*s",
                 (int)(said->length < sizeof name ? said->length : NAME_BYTES - 1), said->bytes);
        sink->column(sink->context, name);
    }
    for (uint64_t row = 0; row < rows; row++) {
        sink->row(sink->context);
        if (answer->has_times)
            tell_whole(sink, (int64_t)thrift_take64(&answer->times));
        for (uint32_t i = 0; i < answer->column_count; i++)
            if (!is_present(&answer->named[i], row))
                sink->value(sink->context, NULL, 0, false);
            else if (!tell_value(&answer->named[i], sink))
                return false;
    }
    return true;
}

enum outcome iotdb_take_answer(struct iotdb_session *session, uint32_t number,
                               const struct result_sink *sink, struct fault *fault)
{
    struct rows_answer answer = {0};
    struct thrift_in in, places = {0};
    enum outcome outcome = iotdb_read(session, number, &in, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    take_response(&in, &answer, &places);
    outcome = in.is_bad ? iotdb_cut(session, fault) : iotdb_judge(&answer.status, fault);
    if (outcome == OUTCOME_OK && answer.has_more && answer.value_count > 0) {
        fault_set(fault, FAULT_SERVER, "ROWS", "the answer has more rows than are read at once");
        outcome = OUTCOME_ERROR;
    }
    if (outcome == OUTCOME_OK && answer.value_count > 0 &&
        (answer.is_short || !join(&answer, &places) || !tell_rows(&answer, sink)))
        outcome = iotdb_cut(session, fault);
    free(answer.named);
    free(answer.columns);
    return outcome;
}
