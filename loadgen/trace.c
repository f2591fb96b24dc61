/* See trace.h. */
#include "trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting.h"
#include "events.h"

_Static_assert(sizeof(struct trace_record) == 40, "docs/loadgen.md and its readers say so");

bool trace_open(struct load *load)
{
    if (!load->spec->trace)
        return true;
    load->trace_file = fopen(load->spec->trace, "wb");
    if (!load->trace_file)
        fprintf(stderr, "scale-loadgen: trace: %s: %s\n", load->spec->trace, strerror(errno));
    return load->trace_file != NULL;
}

int trace_init(struct trace *trace, const struct load *load)
{
    const struct spec *spec = load->spec;
    if (!load->trace_file)
        return 0;
    trace->every = spec->trace_every;
    trace->most = spec->trace_max / spec->workers_total;
    trace->most += trace->most == 0;
    trace->records = calloc(trace->most, sizeof *trace->records);
    return trace->records ? 0 : -1;
}

void trace_free(struct trace *trace)
{
    free(trace->records);
    trace->records = NULL;
}

static enum trace_outcome outcome_of(const struct worker *w, enum outcome outcome)
{
    if (outcome == OUTCOME_OK)
        return TRACE_OK;
    return w->fault.is_late ? TRACE_UNANSWERED : TRACE_FAILED;
}

void trace_take(struct worker *w, enum outcome outcome, uint64_t rows, uint64_t sent_ns,
                uint64_t due_ns, uint64_t answered_ns)
{
    struct trace *trace = &w->trace;
    const uint64_t request = counter_get(&w->counters.requests) - 1;
    const uint64_t taken = counter_get(&trace->taken);
    if (!trace->records || request % trace->every != 0)
        return;
    if (taken == trace->most) {
        counter_add(&trace->left_out, 1);
        return;
    }
    if (worker_asks(w))
        rows = outcome == OUTCOME_OK ? w->asking.answer.rows : 0;
    trace->records[taken] = (struct trace_record){
        .due_ns = due_ns,
        .sent_ns = sent_ns,
        .answered_ns = answered_ns,
        .rows = rows < UINT32_MAX ? (uint32_t)rows : UINT32_MAX,
        .worker = w->number,
        .request = (uint32_t)request,
        .operation = (uint16_t)w->operation,
        .outcome = (uint16_t)outcome_of(w, outcome),
    };
    counter_publish(&trace->taken, taken + 1);
}

static void report_kept(uint64_t kept, uint64_t left_out)
{
    struct json json;
    event_begin(&json, "trace");
    json_put_whole(&json, "kept", kept);
    json_put_whole(&json, "left_out", left_out);
    event_end(&json);
}

void trace_close(struct load *load, const struct worker *workers)
{
    struct fault fault = {0};
    uint64_t kept = 0, left_out = 0;
    bool ok = true;
    if (!load->trace_file)
        return;
    for (uint64_t i = 0; i < load->spec->threads; i++) {
        const uint64_t taken = counter_seen(&workers[i].trace.taken);
        ok &= fwrite(workers[i].trace.records, sizeof(struct trace_record), taken,
                     load->trace_file) == taken;
        kept += taken;
        left_out += counter_get(&workers[i].trace.left_out);
    }
    ok &= fclose(load->trace_file) == 0;
    load->trace_file = NULL;
    report_kept(kept, left_out);
    if (ok)
        return;
    fault_set(&fault, FAULT_SERVER, "TRACE", "%s cannot be written: %s", load->spec->trace,
              strerror(errno));
    event_error(&fault, -1, 1);
}
