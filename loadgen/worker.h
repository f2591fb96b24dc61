/* One worker: a thread with its own connection, rows, counters and histograms. A fatal fault stops
 * all workers. */
#ifndef SCALE_WORKER_H
#define SCALE_WORKER_H

#include <pthread.h>
#include <stdio.h>

#include "checks.h"
#include "content.h"
#include "counters.h"
#include "cursor.h"
#include "drivers/driver.h"
#include "faults.h"
#include "gate.h"
#include "histogram.h"
#include "operations.h"
#include "pacing.h"
#include "tally.h"
#include "trace.h"
#include "turns.h"
#include "values.h"

enum ending {
    ENDING_NONE,
    ENDING_ROWS,    /* all rows were sent */
    ENDING_WINDOW,  /* the window ended */
    ENDING_STOPPED, /* stopped by a request */
    ENDING_ERRORS,  /* max_errors reached */
    ENDING_FATAL
};

struct load { /* read-only while the load runs, except for the atomics */
    const struct spec *spec;
    const struct schema *schema;
    const struct driver_ops *ops;
    bool subscribes; /* the driver's method has the feature */
    const struct operations *operations;
    const struct turns *turns;
    struct driver *driver;
    const struct worker *workers;
    const uint32_t *partition_of;
    bool is_unanswered; /* no answers, no times */
    uint64_t request_timeout_ns; /* 0: none */
    uint64_t drain_ns; /* after the window's end or the first fatal fault */
    uint64_t start_ns;
    _Atomic uint64_t window_start_ns; /* moves to an earlier time */
    int64_t wall_ahead_ns;
    _Atomic uint64_t window_end_ns; /* moves to an earlier time */
    struct gate gate;
    struct fault_book faults;
    FILE *trace_file; /* NULL: no request is kept */
    int done_fd; /* an eventfd: each worker adds 1 at its end */
    struct check_plan check_plans[OPERATIONS_MAX]; /* see checks.h */
    _Atomic bool stop;
    _Atomic uint64_t fatal_ns; /* time of the first fatal fault; 0: none */
};

struct asking { /* answer to the current request */
    struct drawn drawn;
    struct answer answer;
    bool is_reported; /* its answer becomes an event */
    enum check check; /* with its content, if the driver passes it */
    uint64_t check_cpu_ns; /* CPU time of the thread before a request whose content is kept */
    struct content content;
    FILE *kept[OPERATIONS_MAX]; /* files of operations whose answers are kept */
    uint64_t rows_acked_before; /* rows of the process when a reported answer was asked for */
};

struct worker {
    struct counters counters; /* first: on cache lines of their own */
    struct histogram recent, recent_service; /* all phases, for the intervals */
    struct histogram late; /* open loop: what the load generator delayed, in the window */
    struct tally *tallies; /* by operation */
    struct load *load;
    uint32_t number; /* number within the whole load */
    const struct share *share;
    counter *partition_rows; /* rows acknowledged, by partition */
    struct connection *connection;
    struct cursor cursor;
    struct batch batch;
    uint64_t hash; /* random bits of the current request */
    uint32_t operation; /* operation of the current request */
    struct asking asking;
    struct turn turn; /* used with rounds */
    struct trace trace;
    struct maker maker;
    struct pacing pacing;
    uint64_t free_ns; /* when the connection had its last answer */
    uint64_t late_ns; /* waited for neither its time nor an answer */
    uint64_t newest_row; /* highest number of a row that was made */
    uint64_t requests_most; /* its part of a given number of requests; UINT64_MAX: no limit */
    struct fault fault; /* fault of the connect, later the last one */
    enum ending ending;
    pthread_t thread;
    uint64_t cpu_start_ns,
        cpu_end_ns; /* CPU time of the thread at the ends of the window; set by the reporter */
};

/* All but the connection; -1 if out of memory. */
int worker_init(struct worker *worker, struct load *load, uint32_t number,
                const struct share *share);
void worker_free(struct worker *worker);
void *worker_main(void *worker); /* the function of its thread */

#endif
