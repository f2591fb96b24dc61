/* Intended start times. Closed loop: when the last request is answered. Open loop: by the rate
 * alone, so that a stall shows in all requests that it delayed. */
#ifndef SCALE_PACING_H
#define SCALE_PACING_H

#include "counters.h"
#include "spec.h"

struct pacing {
    double units_per_ns; /* this worker's rate; 0: closed loop */
    /* Written by relaxed stores, and read while the worker hangs. */
    _Atomic double next_ns; /* start of the next request, from the origin */
    counter origin_ns, drawn;
    uint64_t seed;
    bool poisson;
};

/* `units`: of a whole request; `part`: of the load, 0..1. */
void pacing_init(struct pacing *pacing, const struct spec *spec, uint32_t worker, uint32_t units,
                 double part);

static inline bool pacing_is_open(const struct pacing *pacing)
{
    return pacing->units_per_ns > 0;
}

/* From any thread. */
struct pacing pacing_copy(const struct pacing *pacing);

/* Start of so many units (rows, or 1 where requests are counted); open loop only. */
uint64_t pacing_next_ns(struct pacing *pacing, uint32_t units);

#endif
