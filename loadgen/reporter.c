/* See reporter.h. */
#include "reporter.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "operation_times.h"
#include "output.h"
#include "window.h"

#define SLACK_NS (NS_PER_SECOND / 4) /* for drivers that keep the deadline themselves */

struct watch { /* the reporter's own state */
    struct load *load;
    struct worker *workers;
    struct report *report;
    int signal_fd;
    struct histogram sum, before, service_sum,
        service_before; /* sums over all workers, two digits */
    struct operation_times times;
    struct totals last;
    struct tally_sums last_of[OPERATIONS_MAX];
    uint64_t tick_ns, step_ns, give_up_ns, ended, cpu_ns;
    bool has_window, has_drain;
};

int reporter_take_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* That should have been answered by now; none is due after the window's end. */
static double backlog_rows(const struct watch *watch, uint64_t now)
{
    const uint64_t end = watch->load->window_end_ns;
    double rows = 0;
    now = least(now, end);
    for (uint64_t i = 0; i < watch->load->spec->threads; i++) {
        const struct worker *w = &watch->workers[i];
        const uint64_t since = counter_get(&w->counters.waiting_since_ns);
        if (since < now)
            rows += (double)(now - since) * w->pacing.units_per_ns;
    }
    return rows;
}

static const char *phase_at(const struct load *load, uint64_t at_ns)
{
    if (at_ns < load->window_start_ns)
        return "warmup";
    return at_ns < load->window_end_ns ? "measure" : "drain";
}

static void fill_operations(struct watch *watch, struct interval *interval)
{
    const struct operations *operations = watch->load->operations;
    interval->operation_count = operations->count;
    for (uint32_t i = 0; i < operations->count; i++) {
        struct tally_sums now, *last = &watch->last_of[i];
        totals_of_operation(watch->workers, watch->load->spec->threads, i, &now);
        interval->operations[i] = (struct interval_operation){
            operations->list[i].name, now.requests - last->requests,
            operation_times_p99(&watch->times, watch->load, watch->workers, i)};
        *last = now;
    }
}

static void report_interval(struct watch *watch, uint64_t now)
{
    const struct spec *spec = watch->load->spec;
    const uint64_t cpu_ns = clock_process_cpu_ns();
    struct totals totals;
    totals_of(watch->workers, spec->threads, &totals);
    const bool is_open_loop = spec->rate > 0;
    histogram_clear(&watch->sum);
    histogram_clear(&watch->service_sum);
    for (uint64_t i = 0; i < spec->threads; i++) {
        histogram_add(&watch->sum, &watch->workers[i].recent);
        histogram_add(&watch->service_sum, &watch->workers[i].recent_service);
    }
    histogram_since(&watch->sum, &watch->before);
    histogram_since(&watch->service_sum, &watch->service_before);
    struct interval interval = {
        .t_s = (double)(now - watch->load->start_ns) / 1e9,
        .monotonic_ns = now,
        .phase = phase_at(watch->load, watch->tick_ns - watch->step_ns),
        .rows = totals.rows_acked - watch->last.rows_acked,
        .rows_total = totals.rows_acked,
        .requests = totals.requests - watch->last.requests,
        .errors = totals.errors - watch->last.errors,
        .retries = totals.retries - watch->last.retries,
        .is_open_loop = is_open_loop,
        .backlog_rows = backlog_rows(watch, now),
        .cpu_s = (double)(cpu_ns - watch->cpu_ns) / 1e9,
        .response = &watch->sum,
        /* equal times; two reads of a running histogram would differ */
        .service = is_open_loop ? &watch->service_sum : &watch->sum,
    };
    fill_operations(watch, &interval);
    event_interval(&interval);
    watch->last = totals;
    watch->cpu_ns = cpu_ns;
}

static uint64_t worker_cpu_ns(const struct worker *w)
{
    uint64_t ns;
    return !counter_seen(&w->counters.done) && clock_cpu_of_thread_ns(w->thread, &ns)
               ? ns
               : counter_get(&w->counters.cpu_ns);
}

static void end_cpu(struct watch *watch)
{
    watch->report->cpu_end_ns = clock_process_cpu_ns();
    for (uint64_t i = 0; i < watch->load->spec->threads; i++)
        watch->workers[i].cpu_end_ns = worker_cpu_ns(&watch->workers[i]);
}

/* Requests in flight get so long from now on; the first reason counts. */
static void arm(struct watch *watch, uint64_t now)
{
    const uint64_t drain_ns = watch->load->drain_ns;
    watch->give_up_ns = least(watch->give_up_ns, now + drain_ns + SLACK_NS);
}

/* The last interval of a phase comes before the next phase. */
static void report_due(struct watch *watch, uint64_t now)
{
    const struct load *load = watch->load;
    if (now >= watch->tick_ns) {
        report_interval(watch, now);
        while (watch->tick_ns <= now)
            watch->tick_ns += watch->step_ns;
    }
    if (!watch->has_window && now >= load->window_start_ns) {
        watch->has_window = watch->report->measured = true;
        watch->report->cpu_start_ns = clock_process_cpu_ns();
        for (uint64_t i = 0; i < load->spec->threads; i++)
            watch->workers[i].cpu_start_ns = worker_cpu_ns(&watch->workers[i]);
        event_phase("measure", load->window_start_ns);
    }
    if (!watch->has_drain && now >= load->window_end_ns) {
        watch->has_drain = watch->report->window_over = true;
        end_cpu(watch);
        event_phase("drain", load->window_end_ns);
        arm(watch, load->window_end_ns);
    }
}

static uint64_t next_due(const struct watch *watch)
{
    uint64_t due = least(watch->tick_ns, watch->give_up_ns);
    if (!watch->has_window)
        due = least(due, watch->load->window_start_ns);
    if (!watch->has_drain)
        due = least(due, watch->load->window_end_ns);
    return due;
}

/* The window of a broken load ends now, not at its last answer: a silent server would have a rate
 * that it never had. */
static void cut_window(struct watch *watch, uint64_t at_ns)
{
    struct load *load = watch->load;
    const uint64_t at = at_ns > load->window_start_ns ? at_ns : load->window_start_ns;
    if (!watch->has_drain && at < load->window_end_ns)
        load->window_end_ns = at;
}

static void take_signal(struct watch *watch, uint64_t now)
{
    struct signalfd_siginfo info;
    if (read(watch->signal_fd, &info, sizeof info) != sizeof info)
        return;
    if (info.ssi_signo == SIGUSR1 || info.ssi_signo == SIGUSR2) {
        if (info.ssi_signo == SIGUSR2 && !watch->has_window)
            window_begin_at(watch->load, watch->tick_ns);
        else if (info.ssi_signo == SIGUSR1 && watch->has_window && !watch->has_drain)
            window_end_at(watch->load, watch->tick_ns);
        return;
    }
    atomic_store_explicit(&watch->load->stop, true, memory_order_relaxed);
    if (watch->report->interrupted)
        watch->give_up_ns = now; /* the second signal ends the load at once */
    else
        arm(watch, now);
    cut_window(watch, now);
    watch->report->interrupted = true;
}

static void take_ended(struct watch *watch)
{
    uint64_t ended;
    if (read(watch->load->done_fd, &ended, sizeof ended) == sizeof ended)
        watch->ended += ended;
    const uint64_t fatal_ns = atomic_load(&watch->load->fatal_ns);
    if (fatal_ns) {
        cut_window(watch, fatal_ns);
        arm(watch, fatal_ns);
    }
}

/* As a fault, unless a signal asked not to wait. */
static void give_up(struct watch *watch)
{
    struct load *load = watch->load;
    struct fault fault = {0};
    watch->report->abandoned = true;
    fault_set(&fault, FAULT_SERVER, "deadline",
              "no answer by the end of the drain (drain_s=%g after the window's end, the first "
              "fatal fault or a signal)",
              load->spec->drain_s);
    for (uint64_t i = 0; !watch->report->interrupted && i < load->spec->threads; i++)
        if (!counter_seen(&watch->workers[i].counters.done))
            faults_note(&load->faults, &fault, watch->workers[i].number);
}

static void wait_and_report(struct watch *watch)
{
    struct pollfd fds[3] = {{.fd = watch->signal_fd, .events = POLLIN},
                            {.fd = watch->load->done_fd, .events = POLLIN},
                            {.events = POLLOUT}};
    while (watch->ended < watch->load->spec->threads) {
        const uint64_t now = clock_now_ns(), due = next_due(watch);
        const uint64_t wait = due > now ? due - now : 0;
        const struct timespec timeout = {.tv_sec = (time_t)(wait / NS_PER_SECOND),
                                         .tv_nsec = (long)(wait % NS_PER_SECOND)};
        fds[2].fd = output_is_pending() ? STDOUT_FILENO : -1;
        if (ppoll(fds, 3, &timeout, NULL) < 0 && errno != EINTR)
            abort();
        output_push();
        const uint64_t after = clock_now_ns();
        take_signal(watch, after);
        take_ended(watch);
        report_due(watch, after);
        if (after >= watch->give_up_ns && watch->ended < watch->load->spec->threads) {
            give_up(watch);
            return;
        }
    }
}

void reporter_run(struct load *load, struct worker *workers, int signal_fd, struct report *report)
{
    struct watch watch = {.load = load,
                          .workers = workers,
                          .report = report,
                          .signal_fd = signal_fd,
                          .step_ns = (uint64_t)(load->spec->interval_s * 1e9),
                          .give_up_ns = NS_NEVER};
    if (histogram_init(&watch.sum, 2) || histogram_init(&watch.before, 2) ||
        histogram_init(&watch.service_sum, 2) || histogram_init(&watch.service_before, 2))
        abort();
    operation_times_init(&watch.times, load->operations->count);
    watch.tick_ns = load->start_ns + watch.step_ns;
    watch.cpu_ns = clock_process_cpu_ns();
    if (load->window_start_ns > load->start_ns)
        event_phase("warmup", load->start_ns);
    wait_and_report(&watch);
    const uint64_t now = clock_now_ns();
    if (report->measured && !watch.has_drain) {
        end_cpu(&watch);
        event_phase("drain", now);
    }
    struct totals totals;
    totals_of(workers, load->spec->threads, &totals);
    if (totals.requests != watch.last.requests || totals.rows_acked != watch.last.rows_acked)
        report_interval(&watch, now);
    histogram_free(&watch.sum);
    histogram_free(&watch.before);
    histogram_free(&watch.service_sum);
    histogram_free(&watch.service_before);
    operation_times_free(&watch.times);
}
