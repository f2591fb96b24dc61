/* A session of IoTDB; see iotdb_session.h. */
#include "iotdb_session.h"

#include <stdio.h>

#include "../deadline.h"

enum { DEFAULT_PORT = 6667, PROTOCOL_V3 = 2, TEXT_MAX = 128, LEAVE_S = 1, STATUS_DEPTH = 4 };

enum outcome iotdb_broken(const struct iotdb_session *session, struct fault *fault)
{
    if (session->stream.is_late)
        return fault_late(fault, "the server has not answered all calls of it");
    fault_set(fault, FAULT_SERVER, "CONNECTION", "%s", session->stream.problem);
    return OUTCOME_ERROR;
}

enum outcome iotdb_cut(struct iotdb_session *session, struct fault *fault)
{
    stream_fail(&session->stream, "an answer of IoTDB ends too early");
    return iotdb_broken(session, fault);
}

static bool is_success(int32_t code)
{
    return code == IOTDB_SUCCESS || code == IOTDB_REDIRECTION;
}

static void take_status(struct thrift_in *in, struct iotdb_status *status, int depth);

/* Of several statuses the first that is not a success. */
static void take_several(struct thrift_in *in, struct iotdb_status *status, int depth)
{
    struct iotdb_status one;
    for (uint32_t left = thrift_take_list(in, THRIFT_STRUCT); left > 0 && !in->is_bad; left--) {
        take_status(in, &one, depth + 1);
        if (is_success(status->code) && !is_success(one.code))
            *status = one;
    }
}

static void take_status(struct thrift_in *in, struct iotdb_status *status, int depth)
{
    struct iotdb_status several = {.code = IOTDB_SUCCESS};
    struct thrift_field field;
    *status = (struct iotdb_status){0};
    while (thrift_take_field(in, &field)) {
        if (field.id == 1 && field.type == THRIFT_I32) {
            status->code = (int32_t)thrift_take32(in);
        } else if (field.id == 2 && field.type == THRIFT_STRING) {
            const struct thrift_text said = thrift_take_text(in);
            snprintf(status->words, sizeof status->words, "%.*s",
                     (int)(said.length < sizeof status->words ? said.length : 399), said.bytes);
        } else if (field.id == 3 && field.type == THRIFT_LIST && depth < STATUS_DEPTH) {
            take_several(in, &several, depth);
        } else {
            thrift_skip(in, field.type);
        }
    }
    if (status->code == IOTDB_SEVERAL && !in->is_bad)
        *status = several;
}

void iotdb_take_status(struct thrift_in *in, struct iotdb_status *status)
{
    take_status(in, status, 0);
}

enum outcome iotdb_judge(const struct iotdb_status *status, struct fault *fault)
{
    char code[16];
    if (is_success(status->code))
        return OUTCOME_OK;
    if (status->code == 0) {
        fault_set(fault, FAULT_SERVER, "PROTOCOL", "the answer of IoTDB has no status");
        return OUTCOME_ERROR;
    }
    snprintf(code, sizeof code, "%d", status->code);
    fault_set(fault, FAULT_SERVER, code, "%s", status->words);
    fault->is_transient = status->code == IOTDB_REJECTED; /* its memory is full at the moment */
    return OUTCOME_ERROR;
}

enum outcome iotdb_read(struct iotdb_session *session, uint32_t number, struct thrift_in *in,
                        struct fault *fault)
{
    struct thrift_field field;
    if (!thrift_read(&session->stream, number, in))
        return iotdb_broken(session, fault);
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
    iotdb_take_status(&in, &status);
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

/* What openSession returned: a status, and the session's number. */
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
            iotdb_take_status(&in, &status);
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
    out = thrift_put32(thrift_put_field(out, THRIFT_I32, 1), PROTOCOL_V3);
    out = put_text(out, 2, "UTC");
    out = put_text(out, 3, spec->user ? spec->user : "root");
    out = put_text(out, 4, has_password ? setup->password : "root");
    out = thrift_put8(out, THRIFT_STOP);
    if (!write_frame(session, frame, out))
        return iotdb_broken(session, fault);
    return read_opened(session, number, fault);
}

/* The server numbers the statements of a session. */
static enum outcome request_statement(struct iotdb_session *session, struct fault *fault)
{
    uint8_t frame[THRIFT_HEAD_BYTES + 16];
    struct thrift_field field;
    struct thrift_in in;
    const uint32_t number = session->calls++;
    uint8_t *out = thrift_begin(frame, "requestStatementId", number);
    out = thrift_put64(thrift_put_field(out, THRIFT_I64, 1), (uint64_t)session->id);
    if (!write_frame(session, frame, out) || !thrift_read(&session->stream, number, &in))
        return iotdb_broken(session, fault);
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
        outcome = iotdb_broken(session, fault);
    }
    fault->is_transient = outcome == OUTCOME_ERROR; /* no row was sent */
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
        out = thrift_put64(thrift_put_field(out, THRIFT_I64, 1), (uint64_t)session->id);
        out = thrift_put8(out, THRIFT_STOP);
        stream_deadline(&session->stream, deadline_after_s(LEAVE_S));
        if (write_frame(session, frame, out))
            iotdb_read_status(session, number, &ignored);
    }
    stream_free(&session->stream);
}
