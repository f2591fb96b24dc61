/* Reads for a worker: prepares its operations, asks them, and reports checked answers as `asked`
 * events. It keeps no times. */
#ifndef SCALE_ASKING_H
#define SCALE_ASKING_H

#include "worker.h"

/* Prepares all operations that ask; a fault names the one that the driver refuses. */
enum outcome asking_prepare(struct worker *worker);

/* Draws the parameters of the request, from `worker->operation` and `worker->hash`. */
void asking_draw(struct worker *worker, uint64_t now_ns);

/* Makes one attempt; the answer is then in worker->asking. */
enum outcome asking_ask(struct worker *worker, uint64_t deadline_ns);

/* Writes the event of the answer, if it is reported. */
void asking_report(struct worker *worker, uint64_t sent_ns, uint64_t answered_ns, bool in_window);

#endif
