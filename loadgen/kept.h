/* Keeps answers in files: an operation with a `result` appends rows to RESULT-<worker>, values with
 * blanks between. Its cost is part of the query's time. */
#ifndef SCALE_KEPT_H
#define SCALE_KEPT_H

#include "worker.h"

enum outcome kept_open(struct worker *worker, uint32_t operation);
void kept_close(struct worker *worker);

/* {item} is its only mark; the answer is counted in worker->asking. */
enum outcome kept_ask(struct worker *worker);

/* The next message of a subscription. */
enum outcome kept_message(struct worker *worker);

/* Runs a statement and ignores its answer. */
enum outcome kept_run(struct worker *worker, const char *statement);

#endif
