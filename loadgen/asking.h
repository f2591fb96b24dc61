/* The reading part of a worker: makes its operations ready on the connection, asks, and tells one
 * in `check_every` answers of each operation as an `asked` event, and those that checks.h chooses.
 * It keeps no times. */
#ifndef SCALE_ASKING_H
#define SCALE_ASKING_H

#include "worker.h"

/* All operations that ask; a fault names the one that the driver refuses. */
enum outcome asking_prepare(struct worker *worker);

/* Draws the parameters of the request that `worker->operation` and `worker->hash` say. */
void asking_draw(struct worker *worker, uint64_t now_ns);

/* One attempt; the answer is then in worker->asking. */
enum outcome asking_ask(struct worker *worker, uint64_t deadline_ns);

/* The answer's event, if it is a reported one. */
void asking_tell(struct worker *worker, uint64_t sent_ns, uint64_t answered_ns, bool in_window);

#endif
