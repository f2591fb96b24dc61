/* Simulated servers; a request goes to the one that is free first. Queueing theory knows the
 * response times, so that a measurement can be compared with the truth. The driver sleeps.
 * With `null_shared` all processes of a load have the same servers, in a file that begins with
 * `struct simulated_counts`. */
#ifndef SCALE_SIMULATED_H
#define SCALE_SIMULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "spec.h"

enum { SIMULATED_SERVERS_MAX = 1024 };

struct simulated;

struct simulated_counts { /* in the byte order of the machine */
    uint64_t busy_ns;      /* time of service, until a request or an answer came last */
    uint64_t throttled_ns; /* time in which a quota stopped all servers */
    uint64_t waited_ns;    /* time in which servers wait for the lock */
    uint64_t rows, requests;
};

#define SIMULATED_OPTIONS                                                                          \
    "null_servers", "null_service_us", "null_law", "null_stall_us", "null_stall_every_ms",         \
        "null_shared", "null_lock_us", "null_quota_milli", "null_warm_ms", "null_warm_percent",    \
        "null_drift_ms", "null_drift_percent", "null_states_ms", "null_states_percent"

/* *made: NULL for none. False, with the reason in `why`: a wrong key, no memory, or another
 * server's file. */
bool simulated_open(const struct spec *spec, struct simulated **made, char *why, uint32_t why_size);

/* From any thread; returns when it is answered, by CLOCK_MONOTONIC. */
uint64_t simulated_request(struct simulated *simulated, uint64_t rows);

/* When the answer of a request has come: counts the work until now. */
void simulated_answered(struct simulated *simulated);

void simulated_close(struct simulated *simulated); /* NULL is allowed */

#endif
