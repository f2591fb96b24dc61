/* See guard.h. */
#include "guard.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clock.h"

enum { SLICE_MS = 100 };

struct task {
    void (*work)(void *);
    void *argument;
    int done_fd;
};

void guard_allow_s(struct guard *g, double seconds)
{
    atomic_store(&g->until_ns, clock_now_ns() + (uint64_t)(seconds * 1e9));
}

/* A signal that asks for the end. */
static int is_signalled(const struct guard *g)
{
    struct signalfd_siginfo info;
    return g->signal_fd >= 0 && read(g->signal_fd, &info, sizeof info) == sizeof info &&
           info.ssi_signo != SIGUSR1;
}

enum guard_end guard_wait(struct guard *g, uint64_t count)
{
    struct pollfd fds[2] = {{.fd = g->done_fd, .events = POLLIN},
                            {.fd = g->signal_fd, .events = POLLIN}};
    uint64_t seen = 0, more;
    while (seen < count) {
        poll(fds, 2, SLICE_MS);
        if ((fds[0].revents & POLLIN) && read(g->done_fd, &more, sizeof more) == sizeof more) {
            seen += more;
            if (g->step_ns)
                atomic_store(&g->until_ns, clock_now_ns() + g->step_ns);
        }
        if (seen >= count)
            break;
        if (is_signalled(g))
            return GUARD_SIGNALLED;
        if (clock_now_ns() >= atomic_load(&g->until_ns))
            return GUARD_LATE;
    }
    return GUARD_DONE;
}

static void *run_task(void *argument)
{
    struct task *task = argument;
    const uint64_t one = 1;
    task->work(task->argument);
    if (write(task->done_fd, &one, sizeof one) != sizeof one)
        abort();
    return NULL;
}

enum guard_end guard_run(struct guard *g, void (*work)(void *), void *argument)
{
    pthread_t thread;
    struct task *task = malloc(sizeof *task); /* outlives this call when the thread does */
    enum guard_end end = GUARD_NO_THREAD;
    g->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (!task || g->done_fd < 0)
        abort();
    *task = (struct task){work, argument, g->done_fd};
    if (pthread_create(&thread, NULL, run_task, task) == 0)
        end = guard_wait(g, 1);
    if (end == GUARD_LATE || end == GUARD_SIGNALLED) {
        pthread_detach(thread);
        return end;
    }
    if (end == GUARD_DONE)
        pthread_join(thread, NULL);
    close(g->done_fd);
    free(task);
    return end;
}
