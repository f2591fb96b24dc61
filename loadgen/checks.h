/* Which answers are checked, that is handed over with their content. It is a matter of time: the
 * first of each operation, then the first that is made after a moment drawn in each period of
 * `check_ms`. So a rare or a slow operation has its answers checked as often as the others.
 *
 * Two limits make checks rarer. All operations together hand over about CONTENT_BYTES_PER_S. And
 * with `check_cpu_share`, the checked requests of a worker take at most that share of its CPU time:
 * each operation has an equal part of it, and its next checked request is taken to cost as much as
 * the last one of any worker. Neither limit holds for the first check of an operation in the
 * warm-up and for its first in the window. It reads no answer. */
#ifndef SCALE_CHECKS_H
#define SCALE_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/driver.h"

struct worker;

struct checks { /* state of one worker; the arrays are by operation */
    uint64_t
        begun_cpu_ns[OPERATIONS_MAX]; /* CPU time of the thread before its last check; 0: none */
    uint64_t look_ns[OPERATIONS_MAX]; /* earliest time at which the CPU time is read again */
};

/* Whether the answer to the worker's current request is checked; true for one worker only in
 * each period. */
bool checks_are_due(struct worker *worker, uint64_t now_ns);

/* Call before the checked request. */
void checks_begin(struct worker *worker);

/* Call after its answer with so many bytes of content, or after its failure. */
void checks_end(struct worker *worker, uint64_t bytes, uint64_t sent_ns);

#endif
