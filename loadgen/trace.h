/* Times of requests, one in so many, as records of a fixed size, kept in memory and written at the
 * end. A full worker counts what it left out. */
#ifndef SCALE_TRACE_H
#define SCALE_TRACE_H

#include <stdbool.h>

#include "counters.h"
#include "drivers/driver.h"

struct load;
struct worker;

enum trace_outcome { TRACE_OK, TRACE_FAILED, TRACE_UNANSWERED };

struct trace_record { /* as in the file, in the machine's byte order */
    uint64_t due_ns, sent_ns, answered_ns; /* CLOCK_MONOTONIC; in a closed loop due equals sent */
    uint32_t rows; /* rows acknowledged, or rows of the answer */
    uint32_t worker, request; /* request: its number within the worker */
    uint16_t operation, outcome;
};

struct trace { /* records of one worker; all zero: none */
    struct trace_record *records;
    uint64_t every, most;
    counter taken, left_out; /* records taken; published */
};

/* False after reporting why not. */
bool trace_open(struct load *load);

/* Memory of one worker; -1 if out of memory. */
int trace_init(struct trace *trace, const struct load *load);
void trace_free(struct trace *trace);

void trace_take(struct worker *w, enum outcome outcome, uint64_t rows, uint64_t sent_ns,
                uint64_t due_ns, uint64_t answered_ns);

/* Also of workers that hang. */
void trace_close(struct load *load, const struct worker *workers);

#endif
