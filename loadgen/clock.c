/* See clock.h. */
#include "clock.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

static uint64_t read_clock(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
}

uint64_t clock_now_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t clock_wall_ahead_ns(void)
{
    return (int64_t)read_clock(CLOCK_REALTIME) - (int64_t)clock_now_ns();
}

uint64_t clock_process_cpu_ns(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t clock_thread_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

bool clock_cpu_of_thread_ns(pthread_t thread, uint64_t *ns)
{
    clockid_t id;
    struct timespec t;
    if (pthread_getcpuclockid(thread, &id) != 0 || clock_gettime(id, &t) != 0)
        return false;
    *ns = (uint64_t)t.tv_sec * NS_PER_SECOND + (uint64_t)t.tv_nsec;
    return true;
}

void clock_sleep_until_ns(uint64_t when_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(when_ns / NS_PER_SECOND),
                                   .tv_nsec = (long)(when_ns % NS_PER_SECOND)};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void clock_process_usage_s(double *user_s, double *system_s)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *user_s = seconds_of(usage.ru_utime);
    *system_s = seconds_of(usage.ru_stime);
}

void clock_precise_sleep(void)
{
    prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);
}
