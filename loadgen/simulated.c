/* See simulated.h. */
#include "simulated.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chance.h"
#include "clock.h"

#define LONGEST_US 3600000000ull

/* Time counts only while the server works: each period of `every_ns` ends with a stop of
 * `stall_ns`. */
struct simulated {
    pthread_mutex_t lock; /* guards all that follows except the settings */
    uint64_t origin_ns;   /* when the first request came; 0: none came */
    uint64_t drawn;
    uint64_t seed, service_ns, stall_ns, every_ns; /* settings */
    bool is_exponential;
    uint32_t servers;
    uint64_t free_ns[]; /* when each server has done all that it was given */
};

static uint64_t worked_ns(const struct simulated *s, uint64_t elapsed_ns)
{
    const uint64_t works = s->every_ns - s->stall_ns, within = elapsed_ns % s->every_ns;
    return elapsed_ns / s->every_ns * works + (within < works ? within : works);
}

static uint64_t elapsed_ns(const struct simulated *s, uint64_t worked)
{
    const uint64_t works = s->every_ns - s->stall_ns;
    return worked / works * s->every_ns + worked % works;
}

/* Inverts the distribution function at a number of 0..1, both excluded. */
static uint64_t draw_service_ns(struct simulated *s)
{
    const uint64_t bits = chance_of(s->seed, s->drawn++) >> 12;
    const double chance = ((double)bits + 0.5) / 4503599627370496.0;
    return s->is_exponential ? (uint64_t)(-log(chance) * (double)s->service_ns) : s->service_ns;
}

uint64_t simulated_request(struct simulated *s)
{
    pthread_mutex_lock(&s->lock);
    const uint64_t now = clock_now_ns();
    if (!s->origin_ns)
        s->origin_ns = now;
    const uint64_t came = worked_ns(s, now - s->origin_ns);
    uint64_t *first = s->free_ns;
    for (uint64_t *other = first + 1; other < s->free_ns + s->servers; other++)
        first = *other < *first ? other : first;
    *first = (*first > came ? *first : came) + draw_service_ns(s);
    const uint64_t answered = s->origin_ns + elapsed_ns(s, *first);
    pthread_mutex_unlock(&s->lock);
    return answered;
}

static bool read_law(const struct spec *spec, bool *is_exponential, char *why, uint32_t why_size)
{
    const char *law = spec_option(spec, "null_law");
    *is_exponential = law && strcmp(law, "exponential") == 0;
    if (!law || *is_exponential || strcmp(law, "constant") == 0)
        return true;
    snprintf(why, why_size, "null_law: '%s' is none of constant, exponential", law);
    return false;
}

static const char *lacks(const struct spec *spec, uint64_t service_us, uint64_t stall_us,
                         uint64_t every_ms)
{
    if (!service_us && (spec_option(spec, "null_servers") || spec_option(spec, "null_law")))
        return "null_service_us: the servers of null_servers and null_law need a time of service";
    if (!every_ms && stall_us)
        return "null_stall_every_ms: null_stall_us needs it, the time from stop to stop";
    if (every_ms && !stall_us)
        return "null_stall_us: null_stall_every_ms needs it, the time of each stop";
    if (every_ms && stall_us >= every_ms * 1000)
        return "null_stall_us: a stop must be shorter than null_stall_every_ms";
    return NULL;
}

bool simulated_open(const struct spec *spec, struct simulated **made, char *why, uint32_t why_size)
{
    uint64_t servers = 1, service_us = 0, stall_us = 0, every_ms = 0;
    bool is_exponential = false;
    *made = NULL;
    if (!spec_option_whole(spec, "null_servers", 1, SIMULATED_SERVERS_MAX, &servers, why,
                           why_size) ||
        !spec_option_whole(spec, "null_service_us", 1, LONGEST_US, &service_us, why, why_size) ||
        !read_law(spec, &is_exponential, why, why_size) ||
        !spec_option_whole(spec, "null_stall_us", 1, LONGEST_US, &stall_us, why, why_size) ||
        !spec_option_whole(spec, "null_stall_every_ms", 1, LONGEST_US / 1000, &every_ms, why,
                           why_size))
        return false;
    const char *lacking = lacks(spec, service_us, stall_us, every_ms);
    if (lacking) {
        snprintf(why, why_size, "%s", lacking);
        return false;
    }
    if (!service_us && !stall_us)
        return true;
    struct simulated *s = calloc(1, sizeof *s + servers * sizeof *s->free_ns);
    if (!s) {
        snprintf(why, why_size, "null_servers: out of memory");
        return false;
    }
    pthread_mutex_init(&s->lock, NULL);
    s->seed = chance_of(chance_of(spec_arrival_seed(spec), 2), spec->first_worker);
    s->service_ns = service_us * NS_PER_US;
    s->stall_ns = stall_us * NS_PER_US;
    s->every_ns = every_ms ? every_ms * 1000000 : NS_NEVER;
    s->is_exponential = is_exponential;
    s->servers = (uint32_t)servers;
    *made = s;
    return true;
}

void simulated_close(struct simulated *simulated)
{
    if (simulated)
        pthread_mutex_destroy(&simulated->lock);
    free(simulated);
}
