/* See totals.h. */
#include "totals.h"

#include "chance.h"

/* Answers first: a running worker may get some meanwhile. */
static uint64_t rows_unanswered(const struct counters *c)
{
    const uint64_t answered = counter_get(&c->rows_acked) + counter_get(&c->rows_failed);
    const uint64_t sent = counter_get(&c->rows_sent);
    return sent > answered ? sent - answered : 0;
}

void totals_of(const struct worker *workers, uint64_t count, struct totals *totals)
{
    *totals = (struct totals){0};
    for (uint64_t i = 0; i < count; i++) {
        const struct counters *c = &workers[i].counters;
        const uint64_t last_ack_ns = counter_get(&c->last_ack_ns);
        totals->rows_acked += counter_get(&c->rows_acked);
        totals->rows_window += counter_get(&c->rows_window);
        totals->rows_failed += counter_get(&c->rows_failed);
        totals->rows_sent += counter_get(&c->rows_sent);
        totals->requests += counter_get(&c->requests);
        totals->errors += counter_get(&c->errors);
        totals->retries += counter_get(&c->retries);
        for (uint32_t k = 0; k < workers[i].load->operations->count; k++) {
            totals->requests_failed += counter_get(&workers[i].tallies[k].failed);
            totals->requests_window += counter_get(&workers[i].tallies[k].answered_window);
        }
        totals->rows_unanswered += rows_unanswered(c);
        if (last_ack_ns > totals->last_ack_ns)
            totals->last_ack_ns = last_ack_ns;
    }
}

void totals_of_operation(const struct worker *workers, uint64_t count, uint32_t operation,
                         struct tally_sums *sums)
{
    *sums = (struct tally_sums){0};
    for (uint64_t i = 0; i < count; i++)
        tally_add(&workers[i].tallies[operation], sums);
}

bool totals_distinct(const struct worker *workers, uint64_t count, const struct totals *totals,
                     uint64_t *rows)
{
    bool ok = totals->rows_failed == 0 && totals->rows_unanswered == 0;
    uint64_t places;
    *rows = 0;
    for (uint64_t i = 0; ok && i < count; i++) {
        const struct worker *w = &workers[i];
        ok = counter_seen(&w->counters.done);
        for (uint32_t t = 0; ok && t < w->share->count; t++) {
            const uint64_t hash = chance_of(w->maker.seed_hash, w->share->tables[t]);
            ok = disorder_distinct(&w->maker.disorder, hash, w->cursor.next_row[t], &places);
            *rows += places;
        }
    }
    return ok;
}
