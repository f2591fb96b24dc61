/* Answers of IoTDB to statements; see iotdb_answer.h. */
#include "iotdb_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "iotdb_set.h"

enum { TEXT_BYTES = 40, NAME_BYTES = 256 };

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

/* False for a value that is not there, or of a type that is not read here. */
static bool tell_value(struct iotdb_column *column, const struct result_sink *sink)
{
    struct iotdb_value value = {0};
    if (!iotdb_take_value(column, &value) || column->kind == IOTDB_BYTES)
        return false;
    if (column->kind == IOTDB_FLOAT)
        tell_number(sink, value.real, 9);
    else if (column->kind == IOTDB_DOUBLE)
        tell_number(sink, value.real, 17);
    else if (column->kind == IOTDB_BOOL)
        sink->value(sink->context, value.whole ? "true" : "false", value.whole ? 4 : 5, false);
    else if (column->kind == IOTDB_TEXT)
        sink->value(sink->context, value.text.bytes, value.text.length, false);
    else
        tell_whole(sink, value.whole);
    return true;
}

static bool tell_rows(struct iotdb_set *set, const struct result_sink *sink)
{
    const uint64_t rows = iotdb_set_rows(set);
    char name[NAME_BYTES];
    if (set->has_times)
        sink->column(sink->context, "Time");
    for (uint32_t i = 0; i < set->column_count; i++) {
        const struct thrift_text *said = &set->columns[i].name;
        snprintf(name, sizeof name, "%.*s",
                 (int)(said->length < sizeof name ? said->length : NAME_BYTES - 1), said->bytes);
        sink->column(sink->context, name);
    }
    for (uint64_t row = 0; row < rows; row++) {
        sink->row(sink->context);
        if (set->has_times)
            tell_whole(sink, (int64_t)thrift_take64(&set->times));
        for (uint32_t i = 0; i < set->column_count; i++)
            if (!iotdb_is_present(&set->columns[i], row))
                sink->value(sink->context, NULL, 0, false);
            else if (!tell_value(&set->columns[i], sink))
                return false;
    }
    return true;
}

enum outcome iotdb_take_answer(struct iotdb_session *session, uint32_t number,
                               const struct result_sink *sink, struct fault *fault)
{
    struct iotdb_set set;
    enum outcome outcome = iotdb_read_set(session, number, &set, fault);
    if (outcome == OUTCOME_OK && set.part_count > 0 && set.has_more) {
        fault_set(fault, FAULT_SERVER, "ROWS", "the answer has more rows than are read at once");
        outcome = OUTCOME_ERROR;
    }
    if (outcome == OUTCOME_OK && set.part_count > 0 && !tell_rows(&set, sink))
        outcome = iotdb_cut(session, fault);
    iotdb_free_set(&set);
    return outcome;
}
