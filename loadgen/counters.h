/* Counters of one worker on their own cache lines: it writes by relaxed stores, the reporter reads.
 */
#ifndef SCALE_COUNTERS_H
#define SCALE_COUNTERS_H

#include <stdatomic.h>
#include <stdint.h>

enum { LINE_PAIR_BYTES = 128 }; /* CPUs fetch lines in pairs */

typedef _Atomic uint64_t counter;

struct counters {
    _Alignas(LINE_PAIR_BYTES) counter rows_acked;
    counter rows_window;
    counter rows_failed;
    counter rows_sent; /* rows of requests that have begun; a retry adds none */
    counter requests;
    counter errors;
    counter retries;
    counter send_ns;
    counter make_ns;
    counter last_ack_ns;
    counter waiting_since_ns; /* open loop: intended start of the oldest unanswered request */
    counter is_in_flight; /* 1 while the driver has a request */
    counter answered_late; /* open loop: to requests sent before the end of the window */
    counter cpu_ns; /* CPU time of the thread, set at its end */
    counter done; /* 1 when the worker has ended: published */
};

_Static_assert(sizeof(struct counters) % LINE_PAIR_BYTES == 0, "workers must not share a line");
_Static_assert(_Alignof(struct counters) == LINE_PAIR_BYTES, "workers must not share a line");

static inline uint64_t counter_get(const counter *c)
{
    return atomic_load_explicit(c, memory_order_relaxed);
}

static inline void counter_set(counter *c, uint64_t value)
{
    atomic_store_explicit(c, value, memory_order_relaxed);
}

static inline void counter_add(counter *c, uint64_t value)
{
    counter_set(c, counter_get(c) + value);
}

/* Publishes all earlier writes too, for counter_seen(). */
static inline void counter_publish(counter *c, uint64_t value)
{
    atomic_store_explicit(c, value, memory_order_release);
}

static inline uint64_t counter_seen(const counter *c)
{
    return atomic_load_explicit(c, memory_order_acquire);
}

#endif
