/* See checks.h. */
#include "checks.h"

#include "chance.h"
#include "clock.h"
#include "totals.h"
#include "window.h"

enum { STREAM_CHECKS = 5 };

#define LOOK_EVERY_NS (NS_PER_SECOND / 10)
#define RATE_OVER_S 5.0

static double seconds(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? (double)(to_ns - from_ns) / 1e9 : 0;
}

static double wanted_per_s(const struct spec *spec)
{
    return spec->check_per_s * (double)spec->threads / (double)spec->workers_total;
}

static uint64_t chance_that(double wanted, double of)
{
    return wanted >= of ? UINT64_MAX : (uint64_t)(wanted / of * 0x1p64) | 1;
}

static bool is_drawn(const struct worker *w, uint64_t chance)
{
    return chance_of(w->hash, STREAM_CHECKS) <= chance;
}

/* From the start of the window on, once it has begun. */
static void move_origin(const struct load *load, struct check_plan *plan, uint64_t checked,
                        uint64_t now_ns)
{
    const uint64_t begun_ns = now_ns >= window_start(load) ? window_start(load) : load->start_ns;
    if (plan->origin_ns == begun_ns)
        return;
    plan->origin_ns = begun_ns;
    plan->origin_checked = checked;
}

static void follow_rate(const struct load *load, struct check_plan *plan, uint64_t requests,
                        uint64_t now_ns)
{
    const double running_s = seconds(load->start_ns, now_ns);
    const double passed_s =
        seconds(plan->seen_ns > load->start_ns ? plan->seen_ns : load->start_ns, now_ns);
    const double over_s = running_s < RATE_OVER_S ? running_s : RATE_OVER_S;
    if (passed_s <= 0)
        return;
    const double weight = passed_s < over_s ? passed_s / over_s : 1;
    plan->per_s += weight * ((double)(requests - plan->seen_requests) / passed_s - plan->per_s);
    plan->seen_ns = now_ns;
    plan->seen_requests = requests;
}

/* The chance with which as many are checked in the next second as are wanted and missing. */
static void look(const struct load *load, uint32_t operation, struct check_plan *plan,
                 uint64_t now_ns)
{
    struct tally_sums sums = {0};
    totals_of_operation(load->workers, load->spec->threads, operation, &sums);
    if (!sums.answered)
        return;
    move_origin(load, plan, sums.checked, now_ns);
    follow_rate(load, plan, sums.requests, now_ns);
    const double wanted = wanted_per_s(load->spec);
    const double due = wanted * seconds(plan->origin_ns, now_ns);
    const double next = wanted + due - (double)(sums.checked - plan->origin_checked);
    atomic_store_explicit(&plan->chance,
                          chance_that(next > wanted / 2 ? next : wanted / 2, plan->per_s),
                          memory_order_relaxed);
}

static void look_when_due(struct load *load, uint32_t operation, uint64_t now_ns)
{
    struct check_plan *plan = &load->check_plans[operation];
    uint64_t due_ns = atomic_load_explicit(&plan->look_ns, memory_order_relaxed);
    if (now_ns < due_ns || !atomic_compare_exchange_strong(&plan->look_ns, &due_ns, UINT64_MAX))
        return;
    look(load, operation, plan, now_ns);
    atomic_store_explicit(&plan->look_ns, now_ns + LOOK_EVERY_NS, memory_order_release);
}

enum check checks_draw(struct worker *w, uint64_t now_ns)
{
    if (w->load->spec->check_per_s <= 0)
        return CHECK_NOT;
    look_when_due(w->load, w->operation, now_ns);
    const uint64_t chance =
        atomic_load_explicit(&w->load->check_plans[w->operation].chance, memory_order_relaxed);
    if (!chance)
        return CHECK_PERHAPS;
    return is_drawn(w, chance) ? CHECK_CHOSEN : CHECK_NOT;
}

bool checks_draw_late(struct worker *w, uint64_t took_ns)
{
    const struct spec *spec = w->load->spec;
    const struct operations *operations = w->load->operations;
    const double share =
        (double)operations->list[w->operation].weight / (double)operations->weights;
    double per_s = (double)spec->workers_total * 1e9 / (double)(took_ns + 1);
    if (spec->rate > 0 && spec->rate < per_s)
        per_s = spec->rate;
    const uint64_t chance = chance_that(spec->check_per_s, share * per_s);
    uint64_t unknown = 0;
    atomic_compare_exchange_strong(&w->load->check_plans[w->operation].chance, &unknown, chance);
    return is_drawn(w, chance);
}
