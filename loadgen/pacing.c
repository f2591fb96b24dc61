/* See pacing.h. */
#include "pacing.h"

#include <math.h>

#include "chance.h"

/* 0 < chance < 1 */
static double draw(struct pacing *pacing)
{
    const uint64_t drawn = counter_get(&pacing->drawn);
    const uint64_t bits = chance_of(pacing->seed, drawn) >> 12;
    counter_set(&pacing->drawn, drawn + 1);
    return ((double)bits + 0.5) / 4503599627370496.0;
}

void pacing_init(struct pacing *pacing, const struct spec *spec, uint32_t worker, uint32_t units,
                 double part)
{
    *pacing = (struct pacing){
        .units_per_ns = spec->rate * part / 1e9,
        .seed = chance_of(chance_of(spec_arrival_seed(spec), 1), worker),
        .poisson = spec->arrival == ARRIVAL_POISSON,
    };
    if (pacing_is_open(pacing)) {
        /* requests must not come at once */
        const double gap_ns = (double)units / pacing->units_per_ns;
        const double place = (double)worker / (double)spec->workers_total;
        pacing->next_ns = gap_ns * (pacing->poisson ? -log(draw(pacing)) : place);
    }
}

uint64_t pacing_next_ns(struct pacing *pacing, uint32_t units)
{
    const double next_ns = atomic_load_explicit(&pacing->next_ns, memory_order_relaxed);
    const double gap_ns = (double)units / pacing->units_per_ns;
    const double step_ns = pacing->poisson ? -log(draw(pacing)) * gap_ns : gap_ns;
    atomic_store_explicit(&pacing->next_ns, next_ns + step_ns, memory_order_relaxed);
    return counter_get(&pacing->origin_ns) + (uint64_t)next_ns;
}

struct pacing pacing_copy(const struct pacing *from)
{
    struct pacing copy = {
        .units_per_ns = from->units_per_ns, .seed = from->seed, .poisson = from->poisson};
    atomic_init(&copy.next_ns, atomic_load_explicit(&from->next_ns, memory_order_relaxed));
    atomic_init(&copy.origin_ns, counter_get(&from->origin_ns));
    atomic_init(&copy.drawn, counter_get(&from->drawn));
    return copy;
}
