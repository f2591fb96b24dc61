/* See fault.h. */
#include "fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../utf8.h"

static void set(struct fault *fault, enum fault_kind kind, const char *code, const char *format,
                va_list arguments)
{
    fault->kind = kind;
    fault->is_transient = fault->is_late = false;
    snprintf(fault->code, sizeof fault->code, "%s", code);
    vsnprintf(fault->message, sizeof fault->message, format, arguments);
    for (size_t end = strlen(fault->message); end > 0 && fault->message[end - 1] == '\n';)
        fault->message[--end] = '\0';
    utf8_mend(fault->message, strlen(fault->message));
    utf8_mend(fault->code, strlen(fault->code));
}

enum outcome fault_set(struct fault *fault, enum fault_kind kind, const char *code,
                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(fault, kind, code, format, arguments);
    va_end(arguments);
    return OUTCOME_ERROR;
}

enum outcome fault_late(struct fault *fault, const char *stage)
{
    fault_set(fault, FAULT_SERVER, "deadline", "no answer by the deadline of the request: %s",
              stage);
    fault->is_late = true;
    return OUTCOME_FATAL;
}

enum outcome fault_spec(struct fault *fault, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set(fault, FAULT_SPEC, "SPEC", format, arguments);
    va_end(arguments);
    return OUTCOME_FATAL;
}

enum outcome fault_broken(struct fault *fault, bool is_late, const char *problem)
{
    if (is_late)
        return fault_late(fault, "the server has not answered all that it was sent");
    return fault_set(fault, FAULT_SERVER, "CONNECTION", "%s", problem);
}

enum outcome fault_no_memory(struct fault *fault)
{
    fault_set(fault, FAULT_SERVER, "MEMORY", "out of memory");
    return OUTCOME_FATAL;
}
