/* See deadline.h. */
#include "deadline.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>

#include "clock.h"

#define NS_PER_MS (1000 * NS_PER_US)

uint64_t deadline_after_s(uint32_t seconds)
{
    return clock_now_ns() + seconds * NS_PER_SECOND;
}

uint64_t deadline_after_ms(uint64_t ms)
{
    return clock_now_ns() + ms * NS_PER_MS;
}

uint64_t deadline_left_ms(uint64_t deadline_ns)
{
    const uint64_t now = clock_now_ns();
    return deadline_ns > now ? (deadline_ns - now + NS_PER_MS - 1) / NS_PER_MS : 0;
}

short deadline_poll(uint64_t deadline_ns, int fd, short events)
{
    struct pollfd one = {.fd = fd, .events = events};
    struct timespec left = {.tv_sec = 0};
    int ready;
    do {
        const uint64_t now = deadline_ns ? clock_now_ns() : 0;
        if (deadline_ns && now >= deadline_ns)
            return 0;
        left.tv_sec = (time_t)((deadline_ns - now) / NS_PER_SECOND);
        left.tv_nsec = (long)((deadline_ns - now) % NS_PER_SECOND);
        ready = ppoll(&one, 1, deadline_ns ? &left : NULL, NULL);
    } while (ready == 0 || (ready < 0 && errno == EINTR));
    return ready < 0 ? POLLERR : one.revents;
}

bool deadline_sleep_until(uint64_t deadline_ns, uint64_t until_ns)
{
    const bool is_late = deadline_ns && deadline_ns < until_ns;
    const uint64_t end = is_late ? deadline_ns : until_ns;
    while (clock_now_ns() < end)
        clock_sleep_until_ns(end);
    return !is_late;
}

bool deadline_sleep_us(uint64_t deadline_ns, uint64_t us)
{
    return deadline_sleep_until(deadline_ns, clock_now_ns() + us * NS_PER_US);
}
