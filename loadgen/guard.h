/* Waits for threads that may never end, until a signal or a time. Who waits in vain leaves the
 * process: a call into a client library cannot be taken back. */
#ifndef SCALE_GUARD_H
#define SCALE_GUARD_H

#include <stdatomic.h>
#include <stdint.h>

enum guard_end { GUARD_DONE, GUARD_LATE, GUARD_SIGNALLED, GUARD_NO_THREAD };

struct guard {
    int done_fd;               /* an eventfd: each end adds 1 */
    int signal_fd;             /* SIGUSR1 means nothing; -1: none */
    uint64_t step_ns;          /* each addition renews the time; 0: it does not */
    _Atomic uint64_t until_ns; /* CLOCK_MONOTONIC; may be moved by another thread */
};

void guard_allow_s(struct guard *guard, double seconds);

/* Waits until `count` was added in all. */
enum guard_end guard_wait(struct guard *guard, uint64_t count);

/* In a thread of its own, left behind unless GUARD_DONE; done_fd is the guard's own. */
enum guard_end guard_run(struct guard *guard, void (*work)(void *), void *argument);

#endif
