/* See simulated.h. */
#include "simulated.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chance.h"
#include "clock.h"

#define LONGEST_US 3600000000ull
#define NS_PER_MS 1000000ull
#define QUOTA_PERIOD_MS 100ull /* the kernel's usual one */
#define FULL_PERCENT 100
#define MILLI 1000

/* Time counts only while the server works: each period of `every_ns` ends with a stop of
 * `stall_ns`, of its own or of its quota. */
struct settings {
    uint64_t seed, servers, service_ns, lock_ns, stall_ns, every_ns, quota_milli;
    uint64_t warm_ns, warm_percent;     /* the speed at first, which rises until full speed */
    uint64_t drift_ns, drift_percent;   /* a wave around full speed */
    uint64_t states_ns, states_percent; /* the speed in about half of such stretches of time */
    uint64_t is_exponential;
};

struct simulated {
    struct simulated_counts counts;
    struct settings settings;
    pthread_mutex_t lock; /* guards all that follows, and the counts */
    uint64_t size;        /* in bytes, if it is mapped from a file */
    uint64_t origin_ns;   /* when the first request came; 0: none came */
    uint64_t drawn, given_ns, lock_free_ns;
    uint64_t free_ns[]; /* when each server has done all that it was given */
};

static uint64_t worked_ns(const struct settings *s, uint64_t elapsed_ns)
{
    const uint64_t works = s->every_ns - s->stall_ns, within = elapsed_ns % s->every_ns;
    return elapsed_ns / s->every_ns * works + (within < works ? within : works);
}

static uint64_t elapsed_ns(const struct settings *s, uint64_t worked)
{
    const uint64_t works = s->every_ns - s->stall_ns;
    return worked / works * s->every_ns + worked % works;
}

/* The wave and the stretches do not begin with the load, so that trials differ. */
static double speed_at(const struct settings *s, uint64_t elapsed, uint64_t now)
{
    double speed = 1.0;
    if (elapsed < s->warm_ns) {
        const double first = (double)s->warm_percent / FULL_PERCENT;
        speed = first + (1.0 - first) * (double)elapsed / (double)s->warm_ns;
    }
    if (s->drift_ns) {
        const double turn = (double)(now % s->drift_ns) / (double)s->drift_ns;
        speed *= 1.0 + (double)s->drift_percent / FULL_PERCENT * sin(2.0 * M_PI * turn);
    }
    if (s->states_ns && chance_of(s->seed, now / s->states_ns) & 1)
        speed *= (double)s->states_percent / FULL_PERCENT;
    return speed;
}

/* Inverts the distribution function at a number of 0..1, both excluded. */
static uint64_t draw_service_ns(struct simulated *s, uint64_t elapsed, uint64_t now)
{
    const struct settings *set = &s->settings;
    double service = (double)set->service_ns;
    if (set->is_exponential) {
        const uint64_t bits = chance_of(set->seed, s->drawn++) >> 12;
        service *= -log(((double)bits + 0.5) / 4503599627370496.0);
    }
    return (uint64_t)(service / speed_at(set, elapsed, now));
}

/* Until which a server is busy that begins now. The last part of each service needs the lock. */
static uint64_t serve(struct simulated *s, uint64_t begin_ns, uint64_t service_ns)
{
    const uint64_t held = s->settings.lock_ns < service_ns ? s->settings.lock_ns : service_ns;
    const uint64_t wants = begin_ns + service_ns - held;
    if (!held)
        return wants;
    const uint64_t gets = wants > s->lock_free_ns ? wants : s->lock_free_ns;
    s->counts.waited_ns += gets - wants;
    return s->lock_free_ns = gets + held;
}

static void lock(struct simulated *s)
{
    if (pthread_mutex_lock(&s->lock) == EOWNERDEAD) /* a load process was killed */
        pthread_mutex_consistent(&s->lock);
}

/* Brings the counts up to date. Returns the server that is free first. */
static uint64_t *count(struct simulated *s, uint64_t elapsed)
{
    const struct settings *set = &s->settings;
    const uint64_t came = worked_ns(set, elapsed);
    uint64_t *first = s->free_ns, ahead = 0;
    for (uint64_t *other = s->free_ns; other < s->free_ns + set->servers; other++) {
        first = *other < *first ? other : first;
        ahead += *other > came ? *other - came : 0;
    }
    /* Waiting for the lock is no work; of the time ahead it has the share that it has of all. */
    const double work = (double)s->given_ns / (double)(s->given_ns + s->counts.waited_ns + 1);
    s->counts.busy_ns =
        s->given_ns - (s->counts.waited_ns ? (uint64_t)(work * (double)ahead) : ahead);
    s->counts.throttled_ns = set->quota_milli ? elapsed - came : 0;
    return first;
}

void simulated_answered(struct simulated *s)
{
    lock(s);
    count(s, clock_now_ns() - s->origin_ns);
    pthread_mutex_unlock(&s->lock);
}

uint64_t simulated_request(struct simulated *s, uint64_t rows)
{
    const struct settings *set = &s->settings;
    lock(s);
    const uint64_t now = clock_now_ns();
    if (!s->origin_ns)
        s->origin_ns = now;
    const uint64_t elapsed = now - s->origin_ns, came = worked_ns(set, elapsed);
    uint64_t *first = count(s, elapsed);
    s->counts.rows += rows;
    s->counts.requests++;
    const uint64_t service = draw_service_ns(s, elapsed, now);
    s->given_ns += service;
    *first = serve(s, *first > came ? *first : came, service);
    const uint64_t answered = s->origin_ns + elapsed_ns(set, *first);
    pthread_mutex_unlock(&s->lock);
    return answered;
}

static bool read_law(const struct spec *spec, uint64_t *is_exponential, char *why,
                     uint32_t why_size)
{
    const char *law = spec_option(spec, "null_law");
    *is_exponential = law && strcmp(law, "exponential") == 0;
    if (!law || *is_exponential || strcmp(law, "constant") == 0)
        return true;
    snprintf(why, why_size, "null_law: '%s' is none of constant, exponential", law);
    return false;
}

/* In the units of the keys. */
static const char *lacks(const struct spec *spec, const struct settings *s)
{
    if (!s->service_ns && (spec_option(spec, "null_servers") || spec_option(spec, "null_law") ||
                           spec_option(spec, "null_shared") || s->lock_ns || s->quota_milli ||
                           s->warm_ns || s->drift_ns || s->states_ns))
        return "null_service_us: the servers of null_servers and null_law need a time of service";
    if (s->quota_milli && (s->every_ns || s->stall_ns))
        return "null_quota_milli: its stops replace those of null_stall_us; leave out one";
    if (!s->every_ns && s->stall_ns)
        return "null_stall_every_ms: null_stall_us needs it, the time from stop to stop";
    if (s->every_ns && !s->stall_ns)
        return "null_stall_us: null_stall_every_ms needs it, the time of each stop";
    if (s->every_ns && s->stall_ns >= s->every_ns * 1000)
        return "null_stall_us: a stop must be shorter than null_stall_every_ms";
    return NULL;
}

static bool read_settings(const struct spec *spec, struct settings *s, char *why, uint32_t why_size)
{
    const struct {
        const char *name;
        uint64_t least, most, *value;
    } keys[] = {
        {"null_servers", 1, SIMULATED_SERVERS_MAX, &s->servers},
        {"null_service_us", 1, LONGEST_US, &s->service_ns},
        {"null_stall_us", 1, LONGEST_US, &s->stall_ns},
        {"null_stall_every_ms", 1, LONGEST_US / 1000, &s->every_ns},
        {"null_lock_us", 1, LONGEST_US, &s->lock_ns},
        {"null_quota_milli", 1, SIMULATED_SERVERS_MAX * MILLI, &s->quota_milli},
        {"null_warm_ms", 1, LONGEST_US / 1000, &s->warm_ns},
        {"null_warm_percent", 1, FULL_PERCENT, &s->warm_percent},
        {"null_drift_ms", 1, LONGEST_US / 1000, &s->drift_ns},
        {"null_drift_percent", 0, FULL_PERCENT / 2, &s->drift_percent},
        {"null_states_ms", 1, LONGEST_US / 1000, &s->states_ns},
        {"null_states_percent", 1, FULL_PERCENT, &s->states_percent},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!spec_option_whole(spec, keys[i].name, keys[i].least, keys[i].most, keys[i].value, why,
                               why_size))
            return false;
    if (!read_law(spec, &s->is_exponential, why, why_size))
        return false;
    const char *lacking = lacks(spec, s);
    if (lacking)
        snprintf(why, why_size, "%s", lacking);
    return !lacking;
}

static void in_ns(struct settings *s)
{
    const uint64_t granted = s->servers * MILLI;
    if (s->quota_milli && s->quota_milli < granted) {
        s->every_ns = QUOTA_PERIOD_MS;
        s->stall_ns = QUOTA_PERIOD_MS * 1000 * (granted - s->quota_milli) / granted;
    }
    s->service_ns *= NS_PER_US;
    s->lock_ns *= NS_PER_US;
    s->stall_ns *= NS_PER_US;
    s->every_ns = s->every_ns ? s->every_ns * NS_PER_MS : NS_NEVER;
    s->warm_ns *= NS_PER_MS;
    s->drift_ns *= NS_PER_MS;
    s->states_ns *= NS_PER_MS;
}

static void begin(struct simulated *s, const struct settings *settings, uint64_t size)
{
    pthread_mutexattr_t shared;
    pthread_mutexattr_init(&shared);
    if (size) {
        pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&shared, PTHREAD_MUTEX_ROBUST);
    }
    pthread_mutex_init(&s->lock, &shared);
    pthread_mutexattr_destroy(&shared);
    s->settings = *settings;
    s->size = size;
}

/* The first process makes the file; the others find the same settings in it. */
static struct simulated *map(int file, const struct settings *settings, uint64_t size)
{
    struct stat seen;
    if (flock(file, LOCK_EX) != 0 || fstat(file, &seen) != 0)
        return NULL;
    const bool is_new = S_ISREG(seen.st_mode) && seen.st_size == 0;
    if (is_new ? ftruncate(file, (off_t)size) != 0 : (uint64_t)seen.st_size != size)
        return NULL;
    struct simulated *s = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (s == MAP_FAILED)
        return NULL;
    if (is_new)
        begin(s, settings, size);
    if (memcmp(&s->settings, settings, sizeof *settings) == 0)
        return s;
    munmap(s, size);
    return NULL;
}

static struct simulated *share(const char *path, const struct settings *settings, uint64_t size,
                               char *why, uint32_t why_size)
{
    const int file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    struct simulated *s = file < 0 ? NULL : map(file, settings, size);
    if (file < 0)
        snprintf(why, why_size, "null_shared: cannot open '%s': %s", path, strerror(errno));
    else if (!s)
        snprintf(why, why_size, "null_shared: '%s' is not the file of such a server", path);
    if (file >= 0)
        close(file);
    return s;
}

bool simulated_open(const struct spec *spec, struct simulated **made, char *why, uint32_t why_size)
{
    struct settings settings = {.servers = 1, .warm_percent = FULL_PERCENT};
    const char *path = spec_option(spec, "null_shared");
    *made = NULL;
    settings.states_percent = FULL_PERCENT;
    if (!read_settings(spec, &settings, why, why_size))
        return false;
    if (!settings.service_ns && !settings.stall_ns)
        return true;
    settings.seed = chance_of(chance_of(spec_arrival_seed(spec), 2), path ? 0 : spec->first_worker);
    in_ns(&settings);
    const uint64_t size = sizeof **made + settings.servers * sizeof *(*made)->free_ns;
    if (path) {
        *made = share(path, &settings, size, why, why_size);
        return *made;
    }
    *made = calloc(1, size);
    if (*made)
        begin(*made, &settings, 0);
    else
        snprintf(why, why_size, "null_servers: out of memory");
    return *made;
}

void simulated_close(struct simulated *simulated)
{
    if (!simulated)
        return;
    if (simulated->size) { /* other processes may use its mutex */
        munmap(simulated, simulated->size);
        return;
    }
    pthread_mutex_destroy(&simulated->lock);
    free(simulated);
}
