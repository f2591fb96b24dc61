/* Waiting for threads that may never end: until they have, a signal, or a time. Who waits in vain
 * leaves the process: a call into a client library cannot be taken back. */
#ifndef SCALE_GUARD_H
#define SCALE_GUARD_H

#include <stdatomic.h>
#include <stdint.h>

enum guard_end { GUARD_DONE, GUARD_LATE, GUARD_SIGNALLED, GUARD_NO_THREAD };

struct guard {
    int done_fd;               /* an eventfd: what is waited for adds 1 each */
    int signal_fd;             /* SIGUSR1 is read off and means nothing; -1: none */
    uint64_t step_ns;          /* each addition renews the time by so much; 0: it does not */
    _Atomic uint64_t until_ns; /* CLOCK_MONOTONIC; may be moved by another thread */
};

/* From now on, so long. */
void guard_allow_s(struct guard *guard, double seconds);

/* Waits until `count` was added in all. */
enum guard_end guard_wait(struct guard *guard, uint64_t count);

/* Runs work(argument) in a thread of its own, which is left behind unless GUARD_DONE; done_fd is
 * the guard's own. */
enum guard_end guard_run(struct guard *guard, void (*work)(void *), void *argument);

#endif
