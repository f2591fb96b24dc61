/* See waiting.h. */
#include "waiting.h"

#include "clock.h"
#include "held.h"
#include "window.h"

enum { SLEEP_SLICE_NS = 50000000 };

uint64_t waiting_until(const struct worker *w, uint64_t when_ns)
{
    uint64_t now = clock_now_ns();
    while (now < when_ns && !worker_stopped(w)) {
        const uint64_t slice = now + SLEEP_SLICE_NS;
        clock_sleep_until_ns(when_ns < slice ? when_ns : slice);
        now = clock_now_ns();
    }
    return now;
}

/* An interval after the start of the last round, or at once. */
static uint64_t wait_round(struct worker *w, uint64_t now_ns, uint64_t end_ns)
{
    const uint64_t interval_ns = (uint64_t)(w->load->spec->round_interval_s * 1e9);
    if (!interval_ns || !w->turn.begins_round)
        return now_ns;
    const uint64_t due_ns = w->turn.round_ns ? w->turn.round_ns + interval_ns : now_ns;
    if (now_ns < due_ns)
        now_ns = waiting_until(w, due_ns < end_ns ? due_ns : end_ns);
    w->turn.round_ns = now_ns;
    return now_ns;
}

/* Until the worker may send again, if its spec holds it back now. */
static uint64_t wait_held(struct worker *w, uint64_t now_ns)
{
    const uint64_t start_ns = window_start(w->load);
    if (!w->load->spec->held || now_ns < start_ns)
        return now_ns;
    const uint64_t until_ns = held_until_ns(w->load->spec, w->number, now_ns - start_ns);
    return until_ns ? waiting_until(w, start_ns + until_ns) : now_ns;
}

bool waiting_turn(struct worker *w, uint64_t *now_ns, uint64_t *intended_ns)
{
    const uint64_t end = window_end(w->load);
    if (pacing_is_open(&w->pacing)) {
        *intended_ns = pacing_next_ns(&w->pacing, w->load->operations->has_ask ? 1 : w->batch.rows);
        counter_set(&w->counters.waiting_since_ns, *intended_ns);
        if (*now_ns < *intended_ns)
            *now_ns = waiting_until(w, *intended_ns < end ? *intended_ns : end);
        const uint64_t could_ns = w->free_ns > *intended_ns ? w->free_ns : *intended_ns;
        w->late_ns = *now_ns > could_ns ? *now_ns - could_ns : 0;
    } else {
        *intended_ns = *now_ns = wait_round(w, wait_held(w, *now_ns), end);
    }
    if (worker_stopped(w))
        w->ending = ENDING_STOPPED;
    else if (*now_ns >= end)
        w->ending = ENDING_WINDOW;
    return w->ending == ENDING_NONE;
}
