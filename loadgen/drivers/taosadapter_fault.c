/* What taosAdapter says when it fails, and a way to it that is broken, as the load's faults. */
#include <inttypes.h>
#include <stdio.h>

#include "taosadapter_answer.h"
#include "taosadapter_parts.h"

/* The way to the adapter fails: it may come back, unless the request's time is over. */
enum outcome adapter_broken(const struct stream *stream, struct fault *fault)
{
    if (stream->is_late)
        return fault_late(fault, "taosAdapter has not answered all of it");
    fault_set(fault, FAULT_SERVER, "ADAPTER", "taosAdapter: %s", stream->problem);
    fault->is_transient = true;
    return OUTCOME_ERROR;
}

/* The answer's code and words as a fault; OK when the code is 0. */
enum outcome adapter_answer(char *text, int status, const char *words, struct fault *fault)
{
    size_t length = 0;
    bool is_string;
    struct json_at description = answer_member(text, words);
    const int64_t code = answer_whole(answer_member(text, "code"), -1);
    if (code == 0 && status == 200)
        return OUTCOME_OK;
    char *said = description.at ? answer_text(&description, &length, &is_string) : text;
    if (description.at)
        said[length] = '\0';
    if (code > 0)
        return tdengine_fault((int)code, said, fault);
    fault_set(fault, FAULT_SERVER, "ADAPTER", "taosAdapter: HTTP status %d: %.300s", status, said);
    fault->is_transient = status == 503; /* its memory exceeds a threshold */
    return fault->is_transient ? OUTCOME_ERROR : OUTCOME_FATAL;
}
