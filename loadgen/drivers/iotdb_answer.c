/* Answers of IoTDB to statements; see iotdb_answer.h. */
#include "iotdb_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

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

static void tell_columns(const struct iotdb_set *set, const struct result_sink *sink)
{
    char name[NAME_BYTES];
    if (set->has_times)
        sink->column(sink->context, "Time");
    for (uint32_t i = 0; i < set->column_count; i++) {
        const struct thrift_text *said = &set->columns[i].name;
        snprintf(name, sizeof name, "%.*s",
                 (int)(said->length < sizeof name ? said->length : NAME_BYTES - 1), said->bytes);
        sink->column(sink->context, name);
    }
}

static bool tell_rows(struct iotdb_set *set, const struct result_sink *sink)
{
    const uint64_t rows = iotdb_set_rows(set);
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

enum outcome iotdb_tell_answer(struct connection *c, const struct iotdb_statement *asked,
                               const struct result_sink *sink, struct fault *fault)
{
    struct iotdb_set set = {0};
    enum outcome outcome;
    do {
        const bool is_first = !set.has_more;
        outcome = iotdb_ask_page(c, asked, &set, fault);
        if (outcome != OUTCOME_OK || set.part_count == 0)
            break;
        if (is_first)
            tell_columns(&set, sink);
        if (!tell_rows(&set, sink))
            outcome = iotdb_cut(&c->session, fault);
    } while (outcome == OUTCOME_OK && set.has_more);
    iotdb_free_set(&set);
    return outcome;
}
