/* See iotdb_session.h. */
#include "iotdb_session.h"

#include <stdio.h>
#include <stdlib.h>

#include "../deadline.h"

enum { DEFAULT_PORT = 6667, PROTOCOL_V3 = 2, TEXT_MAX = 128, LEAVE_S = 1, STATUS_DEPTH = 4 };

enum outcome iotdb_cut(struct iotdb_session *session, struct fault *fault)
{
    stream_fail(&session->stream, "an answer of IoTDB ends too early");
    return stream_fault(&session->stream, fault);
}

static bool is_success(int32_t code)
{
    return code == IOTDB_SUCCESS || code == IOTDB_REDIRECTION;
}

static void take_several(struct thrift_in *in, struct iotdb_status *status, int depth);

static void take_status(struct thrift_in *in, struct iotdb_status *status, int depth)
{
    struct iotdb_status several = {.code = IOTDB_SUCCESS};
    struct thrift_field field;
    *status = (struct iotdb_status){0};
    while (thrift_take_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_I32) {
            status->code = (int32_t)thrift_take32(in);
        } else if (field.id == 2 && field.type == THRIFT_STRING) {
            const struct thrift_text text = thrift_take_text(in);
            snprintf(status->words, sizeof status->words, "%.*s",
                     (int)(text.length < sizeof status->words ? text.length : 399), text.bytes);
        } else if (field.id == 3 && field.type == THRIFT_LIST && depth < STATUS_DEPTH) {
            take_several(in, &several, depth);
        } else {
            thrift_skip(in, field.type);
        }
    }
    if (status->code == IOTDB_SEVERAL && !in->is_bad)
        *status = several;
}

/* The first status that is not a success. */
static void take_several(struct thrift_in *in, struct iotdb_status *status, int depth)
{
    struct iotdb_status one;
    for (uint32_t left = thrift_take_list(in, THRIFT_STRUCT); left > 0 && !in->is_bad; left--) {
        take_status(in, &one, depth + 1);
        if (is_success(status->code) && !is_success(one.code))
            *status = one;
    }
}

static enum outcome iotdb_judge(const struct iotdb_status *status, struct fault *fault)
{
    char code[16];
    if (is_success(status->code))
        return OUTCOME_OK;
    if (status->code == 0)
        return fault_set(fault, FAULT_SERVER, "PROTOCOL", "the answer of IoTDB has no status");
    snprintf(code, sizeof code, "%d", status->code);
    fault_set(fault, FAULT_SERVER, code, "%s", status->words);
    fault->is_transient = status->code == IOTDB_REJECTED; /* its memory is full at the moment */
    return OUTCOME_ERROR;
}

static enum outcome iotdb_read(struct iotdb_session *session, uint32_t number, struct thrift_in *in,
                               struct fault *fault)
{
    struct thrift_field field;
    if (!thrift_read(&session->stream, number, in))
        return stream_fault(&session->stream, fault);
    if (thrift_take_field(in, &field) && field.id == 0 && field.type == THRIFT_STRUCT)
        return OUTCOME_OK;
    return iotdb_cut(session, fault);
}

enum outcome iotdb_read_status(struct iotdb_session *session, uint32_t number, struct fault *fault)
{
    struct iotdb_status status;
    struct thrift_in in;
    const enum outcome outcome = iotdb_read(session, number, &in, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    take_status(&in, &status, 0);
    return in.is_bad ? iotdb_cut(session, fault) : iotdb_judge(&status, fault);
}

static uint8_t *put_text(uint8_t *out, uint8_t id, const char *text)
{
    out = thrift_put_field(out, THRIFT_STRING, id);
    return thrift_put_bytes(out, text, strnlen(text, TEXT_MAX));
}

static bool write_frame(struct iotdb_session *session, uint8_t *frame, uint8_t *out)
{
    out = thrift_end(frame, out);
    return stream_write(&session->stream, frame, (size_t)(out - frame), NULL, 0);
}

static enum outcome read_opened(struct iotdb_session *session, uint32_t number, struct fault *fault)
{
    struct iotdb_status status = {0};
    struct thrift_field field;
    struct thrift_in in;
    const enum outcome outcome = iotdb_read(session, number, &in, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    while (thrift_take_field(&in, &field))
        if (field.id == 1 && field.type == THRIFT_STRUCT)
            take_status(&in, &status, 0);
        else if (field.id == 3 && field.type == THRIFT_I64)
            session->id = (int64_t)thrift_take64(&in);
        else
            thrift_skip(&in, field.type);
    return in.is_bad ? iotdb_cut(session, fault) : iotdb_judge(&status, fault);
}

static enum outcome open_session(struct iotdb_session *session, const struct driver_setup *setup,
                                 struct fault *fault)
{
    const struct spec *spec = setup->spec;
    const bool has_password = setup->password && *setup->password;
    uint8_t frame[THRIFT_HEAD_BYTES + 4 * TEXT_MAX];
    const uint32_t number = session->calls++;
    uint8_t *out = thrift_begin(frame, "openSession", number);
    out = thrift_put_field(out, THRIFT_STRUCT, 1);
    out = put_u32(thrift_put_field(out, THRIFT_I32, 1), PROTOCOL_V3);
    out = put_text(out, 2, "UTC");
    out = put_text(out, 3, spec->user ? spec->user : "root");
    out = put_text(out, 4, has_password ? setup->password : "root");
    out = thrift_put8(out, THRIFT_STOP);
    if (!write_frame(session, frame, out))
        return stream_fault(&session->stream, fault);
    return read_opened(session, number, fault);
}

static enum outcome request_statement(struct iotdb_session *session, struct fault *fault)
{
    uint8_t frame[THRIFT_HEAD_BYTES + 16];
    struct thrift_field field;
    struct thrift_in in;
    const uint32_t number = session->calls++;
    uint8_t *out = thrift_begin(frame, "requestStatementId", number);
    out = put_u64(thrift_put_field(out, THRIFT_I64, 1), (uint64_t)session->id);
    if (!write_frame(session, frame, out) || !thrift_read(&session->stream, number, &in))
        return stream_fault(&session->stream, fault);
    if (!thrift_take_field(&in, &field) || field.type != THRIFT_I64)
        return iotdb_cut(session, fault);
    session->statement_id = (int64_t)thrift_take64(&in);
    return in.is_bad ? iotdb_cut(session, fault) : OUTCOME_OK;
}

enum outcome iotdb_reach(struct iotdb_session *session, const struct driver_setup *setup,
                         struct fault *fault)
{
    const struct spec *spec = setup->spec;
    enum outcome outcome;
    if (session->stream.fd >= 0)
        return OUTCOME_OK;
    if (stream_open(&session->stream, spec->host ? spec->host : "localhost",
                    spec->port ? (uint16_t)spec->port : DEFAULT_PORT)) {
        outcome = open_session(session, setup, fault);
        if (outcome == OUTCOME_OK)
            outcome = request_statement(session, fault);
        if (outcome == OUTCOME_OK || session->stream.fd >= 0) {
            if (outcome != OUTCOME_OK)
                stream_close(&session->stream); /* refused: there is no session */
            return outcome;
        }
    } else {
        outcome = stream_fault(&session->stream, fault);
    }
    fault->is_transient = outcome == OUTCOME_ERROR; /* nothing was sent */
    return outcome;
}

void iotdb_leave(struct iotdb_session *session)
{
    uint8_t frame[THRIFT_HEAD_BYTES + 32];
    struct fault ignored;
    if (session->stream.fd >= 0) {
        const uint32_t number = session->calls++;
        uint8_t *out = thrift_begin(frame, "closeSession", number);
        out = thrift_put_field(out, THRIFT_STRUCT, 1);
        out = put_u64(thrift_put_field(out, THRIFT_I64, 1), (uint64_t)session->id);
        out = thrift_put8(out, THRIFT_STOP);
        stream_deadline(&session->stream, deadline_after_s(LEAVE_S));
        if (write_frame(session, frame, out))
            iotdb_read_status(session, number, &ignored);
    }
    stream_free(&session->stream);
}

struct iotdb_part { /* values of one column, or of several names */
    struct thrift_in values;
    struct thrift_text present;
};

static struct thrift_in reader_of(struct thrift_text text)
{
    const uint8_t *bytes = (const uint8_t *)text.bytes;
    return (struct thrift_in){.at = bytes, .end = bytes + text.length};
}

static enum iotdb_kind kind_of(struct thrift_text type)
{
    static const struct {
        const char *name;
        enum iotdb_kind kind;
    } kinds[] = {
        {"INT32", IOTDB_WHOLE32},  {"DATE", IOTDB_WHOLE32}, {"INT64", IOTDB_WHOLE64},
        {"TIMESTAMP", IOTDB_TIME}, {"FLOAT", IOTDB_FLOAT},  {"DOUBLE", IOTDB_DOUBLE},
        {"BOOLEAN", IOTDB_BOOL},   {"TEXT", IOTDB_TEXT},    {"STRING", IOTDB_TEXT},
        {"BLOB", IOTDB_BYTES},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (type.length == strlen(kinds[i].name) &&
            memcmp(type.bytes, kinds[i].name, type.length) == 0)
            return kinds[i].kind;
    return IOTDB_UNKNOWN;
}

static void take_texts(struct thrift_in *in, struct iotdb_set *set, bool is_type)
{
    const uint32_t count = thrift_take_list(in, THRIFT_STRING);
    if (!set->columns) {
        set->columns = calloc(count + 1, sizeof *set->columns);
        set->column_count = count;
        set->is_short = !set->columns;
        for (uint32_t i = 0; set->columns && i < count;
             i++) /* an answer may have types without names */
            set->columns[i].name.bytes = "";
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct thrift_text text = thrift_take_text(in);
        if (set->columns && i < set->column_count && is_type)
            set->columns[i].kind = kind_of(text);
        else if (set->columns && i < set->column_count)
            set->columns[i].name = text;
    }
}

static void take_parts(struct thrift_in *in, struct iotdb_set *set, bool is_bitmap)
{
    const uint32_t count = thrift_take_list(in, THRIFT_STRING);
    if (!set->parts) {
        set->parts = calloc(count + 1, sizeof *set->parts);
        set->part_count = count;
        set->is_short |= !set->parts;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct thrift_text text = thrift_take_text(in);
        if (set->parts && i < set->part_count && is_bitmap)
            set->parts[i].present = text;
        else if (set->parts && i < set->part_count)
            set->parts[i].values = reader_of(text);
    }
}

/* A TSQueryDataSet: times, values of each column, bitmaps of the rows that have one. */
static void take_data(struct thrift_in *in, struct iotdb_set *set)
{
    struct thrift_field field;
    while (thrift_take_field(in, &field))
        if (field.id == 1 && field.type == THRIFT_STRING)
            set->times = reader_of(thrift_take_text(in));
        else if ((field.id == 2 || field.id == 3) && field.type == THRIFT_LIST)
            take_parts(in, set, field.id == 3);
        else
            thrift_skip(in, field.type);
}

/* Names may share a part. */
static void take_places(struct thrift_in *in, struct iotdb_set *set)
{
    thrift_take8(in), thrift_take8(in);
    for (uint32_t left = thrift_take32(in); left > 0 && !in->is_bad; left--) {
        const struct thrift_text name = thrift_take_text(in);
        const uint32_t at = thrift_take32(in);
        for (uint32_t i = 0; i < set->column_count; i++)
            if (set->columns[i].name.length == name.length &&
                memcmp(set->columns[i].name.bytes, name.bytes, name.length) == 0)
                set->columns[i].place = at;
    }
}

/* False: a name has no values. */
static bool join(struct iotdb_set *set)
{
    for (uint32_t i = 0; i < set->column_count; i++) {
        struct iotdb_column *column = &set->columns[i];
        if (column->place >= set->part_count)
            return false;
        column->values = set->parts[column->place].values;
        column->present = set->parts[column->place].present;
    }
    return true;
}

static void take_response(struct thrift_in *in, struct iotdb_set *set, struct thrift_in *places)
{
    struct thrift_field field;
    set->has_times = true;
    while (thrift_take_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_STRUCT)
            take_status(in, &set->status, 0);
        else if (field.id == 2 && field.type == THRIFT_I64)
            set->query = (int64_t)thrift_take64(in);
        else if ((field.id == 3 || field.id == 6) && field.type == THRIFT_LIST)
            take_texts(in, set, field.id == 6);
        else if (field.id == 5 && field.type == THRIFT_BOOL)
            set->has_times = !thrift_take8(in);
        else if (field.id == 7 && field.type == THRIFT_STRUCT)
            take_data(in, set);
        else if (field.id == 14 && field.type == THRIFT_BOOL)
            set->has_more = thrift_take8(in);
        else {
            if (field.id == 9 && field.type == THRIFT_MAP)
                *places = *in;
            thrift_skip(in, field.type);
        }
    }
}

static enum outcome judged(struct iotdb_session *session, const struct thrift_in *in,
                           struct iotdb_set *set, struct fault *fault)
{
    const enum outcome outcome =
        in->is_bad ? iotdb_cut(session, fault) : iotdb_judge(&set->status, fault);
    if (outcome != OUTCOME_OK || set->part_count == 0)
        return outcome;
    return set->is_short || !join(set) ? iotdb_cut(session, fault) : OUTCOME_OK;
}

enum outcome iotdb_read_set(struct iotdb_session *session, uint32_t number, struct iotdb_set *set,
                            struct fault *fault)
{
    struct thrift_in in, places = {0};
    *set = (struct iotdb_set){0};
    const enum outcome outcome = iotdb_read(session, number, &in, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    take_response(&in, set, &places);
    for (uint32_t i = 0; i < set->column_count && set->columns; i++)
        set->columns[i].place = i;
    if (set->columns && places.at)
        take_places(&places, set);
    return judged(session, &in, set, fault);
}

bool iotdb_is_present(const struct iotdb_column *column, uint64_t row)
{
    return row / 8 < column->present.length &&
           ((uint8_t)column->present.bytes[row / 8] & 0x80u >> row % 8);
}

uint64_t iotdb_set_rows(const struct iotdb_set *set)
{
    uint64_t rows = (uint64_t)(set->times.end - set->times.at) / 8;
    if (set->times.end != set->times.at || set->part_count == 0)
        return rows;
    for (uint32_t i = 0; i < set->column_count; i++) {
        const struct thrift_text *bits = &set->columns[i].present;
        for (uint64_t row = (uint64_t)bits->length * 8; row > rows; row--)
            if (iotdb_is_present(&set->columns[i], row - 1))
                rows = row;
    }
    return rows;
}

/* A TSFetchResultsResp. moreData is ignored: IoTDB 2.0.1-beta sets it when nothing is left. A page
 * with fewer rows than asked for is the last. */
enum outcome iotdb_read_more(struct iotdb_session *session, uint32_t number, uint32_t rows_max,
                             struct iotdb_set *set, struct fault *fault)
{
    struct thrift_field field;
    struct thrift_in in;
    enum outcome outcome = iotdb_read(session, number, &in, fault);
    if (outcome != OUTCOME_OK)
        return outcome;
    set->status = (struct iotdb_status){0};
    set->times = (struct thrift_in){0};
    if (set->parts)
        memset(set->parts, 0, set->part_count * sizeof *set->parts);
    while (thrift_take_field(&in, &field))
        if (field.id == 1 && field.type == THRIFT_STRUCT)
            take_status(&in, &set->status, 0);
        else if (field.id == 4 && field.type == THRIFT_STRUCT)
            take_data(&in, set);
        else
            thrift_skip(&in, field.type);
    outcome = judged(session, &in, set, fault);
    set->has_more = outcome == OUTCOME_OK && iotdb_set_rows(set) >= rows_max;
    return outcome;
}

void iotdb_free_set(struct iotdb_set *set)
{
    free(set->columns);
    free(set->parts);
}

uint64_t iotdb_set_bytes(const struct iotdb_set *set)
{
    uint64_t bytes = (uint64_t)(set->times.end - set->times.at);
    for (uint32_t i = 0; set->parts && i < set->part_count; i++)
        bytes += (uint64_t)(set->parts[i].values.end - set->parts[i].values.at);
    return bytes;
}

bool iotdb_take_value(struct iotdb_column *column, struct iotdb_value *value)
{
    struct thrift_in *in = &column->values;
    uint32_t four;
    uint64_t eight;
    float small;
    switch (column->kind) {
    case IOTDB_WHOLE32:
        value->whole = (int32_t)thrift_take32(in);
        break;
    case IOTDB_WHOLE64:
    case IOTDB_TIME:
        value->whole = (int64_t)thrift_take64(in);
        break;
    case IOTDB_FLOAT:
        four = thrift_take32(in);
        memcpy(&small, &four, sizeof small);
        value->real = (double)small;
        break;
    case IOTDB_DOUBLE:
        eight = thrift_take64(in);
        memcpy(&value->real, &eight, sizeof eight);
        break;
    case IOTDB_BOOL:
        value->whole = thrift_take8(in) != 0;
        break;
    case IOTDB_TEXT:
    case IOTDB_BYTES:
        value->text = thrift_take_text(in);
        break;
    default:
        return false;
    }
    return !in->is_bad;
}
