/* Reads for a worker: prepares operations, asks them, reports checked answers as `asked` events. */
#ifndef SCALE_ASKING_H
#define SCALE_ASKING_H

#include "worker.h"

/* A fault names the operation that the driver refuses. */
enum outcome asking_prepare(struct worker *worker);

void asking_draw(struct worker *worker, uint64_t now_ns);

/* One attempt; the answer is in worker->asking. */
enum outcome asking_ask(struct worker *worker, uint64_t deadline_ns);

void asking_report(struct worker *worker, uint64_t sent_ns, uint64_t answered_ns, bool in_window);

#endif
