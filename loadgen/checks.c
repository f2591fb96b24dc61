/* Chooses the answers that are checked; see checks.h. */
#include "checks.h"

#include "chance.h"
#include "clock.h"
#include "window.h"

enum { STREAM_CHECKS = 5, CONTENT_BYTES_PER_S = 1 << 20 };

#define LOOK_NS_LEAST 1000000
#define LOOK_NS_MOST 1000000000
#define REST_NS_MOST 10000000000

/* The moment in a period of this operation; each moment has the same chance. */
static uint64_t moment(const struct load *load, uint32_t operation, uint64_t period,
                       uint64_t period_ns)
{
    const struct spec *spec = load->spec;
    const uint64_t seed = spec->read_seed ? spec->read_seed : spec->seed;
    const uint64_t chance =
        chance_of(chance_of(chance_of(seed, STREAM_CHECKS), operation), period) >> 11;
    const double part = (double)chance / 9007199254740992.0;
    return load->start_ns + period * period_ns + (uint64_t)(part * (double)period_ns);
}

/* Whether the operation was not yet checked, or not yet in the current window. */
static bool is_first(struct load *load, uint32_t operation, uint64_t now_ns)
{
    const uint64_t last_ns =
        atomic_load_explicit(&load->checked_ns[operation], memory_order_relaxed);
    const uint64_t window_ns = window_start(load);
    if (last_ns == 0)
        return true;
    return window_ns > load->start_ns && last_ns < window_ns && now_ns >= window_ns;
}

/* Whether the worker still has too little CPU time since the last check of its operation. */
static bool is_too_early(struct worker *w, uint64_t now_ns)
{
    const struct load *load = w->load;
    struct checks *checks = &w->asking.checks;
    const double share = load->spec->check_cpu_share / load->operations->count;
    if (share <= 0)
        return false;
    if (now_ns < checks->look_ns[w->operation])
        return true;
    const uint64_t cost_ns =
        atomic_load_explicit(&load->check_cost_ns[w->operation], memory_order_relaxed);
    const double has_ns = (double)(clock_thread_cpu_ns() - checks->begun_cpu_ns[w->operation]);
    const double lacks_ns = (double)cost_ns / share - has_ns;
    if (cost_ns && lacks_ns <= 0)
        return false;
    /* A thread's CPU time never passes faster than real time. */
    const double wait_ns = lacks_ns > LOOK_NS_LEAST ? lacks_ns : LOOK_NS_LEAST;
    checks->look_ns[w->operation] =
        now_ns + (wait_ns < LOOK_NS_MOST ? (uint64_t)wait_ns : LOOK_NS_MOST);
    return true;
}

bool checks_are_due(struct worker *w, uint64_t now_ns)
{
    struct load *load = w->load;
    const uint32_t operation = w->operation;
    const uint64_t period_ns = load->spec->check_ms * (NS_PER_SECOND / 1000);
    uint64_t due = atomic_load_explicit(&load->check_due_ns[operation], memory_order_relaxed);
    if (!period_ns || now_ns < due)
        return false;
    if (!is_first(load, operation, now_ns) &&
        (now_ns < atomic_load_explicit(&load->check_rest_ns[operation], memory_order_relaxed) ||
         is_too_early(w, now_ns)))
        return false;
    const uint64_t next = now_ns < load->start_ns ? 0 : (now_ns - load->start_ns) / period_ns + 1;
    if (!atomic_compare_exchange_strong(&load->check_due_ns[operation], &due,
                                        moment(load, operation, next, period_ns)))
        return false;
    atomic_store_explicit(&load->checked_ns[operation], now_ns, memory_order_relaxed);
    return true;
}

void checks_begin(struct worker *w)
{
    w->asking.checks.begun_cpu_ns[w->operation] = clock_thread_cpu_ns();
}

void checks_end(struct worker *w, uint64_t bytes, uint64_t sent_ns)
{
    struct load *load = w->load;
    const uint64_t begun_ns = w->asking.checks.begun_cpu_ns[w->operation];
    const double rest_ns = (double)bytes * load->operations->count / CONTENT_BYTES_PER_S * 1e9;
    const uint64_t end_ns = sent_ns + (rest_ns < REST_NS_MOST ? (uint64_t)rest_ns : REST_NS_MOST);
    if (end_ns > atomic_load_explicit(&load->check_rest_ns[w->operation], memory_order_relaxed))
        atomic_store_explicit(&load->check_rest_ns[w->operation], end_ns, memory_order_relaxed);
    atomic_store_explicit(&load->check_cost_ns[w->operation], clock_thread_cpu_ns() - begun_ns,
                          memory_order_relaxed);
}
