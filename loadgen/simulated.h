/* Simulated servers; a request goes to the one that is free first. Queueing theory knows the
 * response times, so that a measurement can be compared with the truth. The driver sleeps. */
#ifndef SCALE_SIMULATED_H
#define SCALE_SIMULATED_H

#include <stdbool.h>
#include <stdint.h>

#include "spec.h"

enum { SIMULATED_SERVERS_MAX = 1024 };

struct simulated;

#define SIMULATED_OPTIONS                                                                          \
    "null_servers", "null_service_us", "null_law", "null_stall_us", "null_stall_every_ms"

/* *made: NULL for none. False, with the reason in `why`: a wrong key, or no memory. */
bool simulated_open(const struct spec *spec, struct simulated **made, char *why, uint32_t why_size);

/* From any thread; returns when it is answered, by CLOCK_MONOTONIC. */
uint64_t simulated_request(struct simulated *simulated);

void simulated_close(struct simulated *simulated); /* NULL is allowed */

#endif
