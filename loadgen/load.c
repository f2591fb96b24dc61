/* The verb `load`. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "job.h"
#include "output.h"
#include "reporter.h"
#include "summary.h"

#define START_LATE_MAX_NS 5000000ull
#define START_DELAY_NS 1000000ull /* for all workers to wake before the common start */

struct parts { /* memory of one load */
    uint32_t *partition_of;
    struct share *shares;
    struct worker *workers;
    uint64_t made; /* workers initialised */
    uint64_t started;
};

static enum exitcode out_of_memory(void)
{
    fputs("scale-loadgen: out of memory\n", stderr);
    return EXIT_INTERNAL;
}

/* Workers share no cache line. */
static struct worker *workers_new(uint64_t count)
{
    struct worker *workers = aligned_alloc(_Alignof(struct worker), count * sizeof *workers);
    for (uint64_t i = 0; workers && i < count; i++)
        workers[i] = (struct worker){.number = 0};
    return workers;
}

static enum exitcode prepare(struct job *job, struct load *load, struct parts *parts, int signal_fd)
{
    const struct spec *spec = &job->spec;
    parts->partition_of = calloc(spec->tables, sizeof *parts->partition_of);
    parts->shares = calloc(spec->threads, sizeof *parts->shares);
    parts->workers = workers_new(spec->threads);
    if (!parts->partition_of || !parts->shares || !parts->workers)
        return out_of_memory();
    const enum exitcode placed = spec->rounds ? EXIT_DONE /* no query names a table of the load */
                                              : job_place(job, parts->partition_of, signal_fd);
    if (placed != EXIT_DONE)
        return placed;
    if (placement_share(spec, parts->partition_of, parts->shares))
        return out_of_memory();
    load->partition_of = parts->partition_of;
    load->workers = parts->workers;
    for (uint64_t i = 0; i < spec->threads; i++) {
        parts->made++;
        if (worker_init(&parts->workers[i], load, (uint32_t)(spec->first_worker + i),
                        &parts->shares[i]) ||
            trace_init(&parts->workers[i].trace, load))
            return out_of_memory();
    }
    return EXIT_DONE;
}

/* A start that is set is kept to the ns, for other processes have it too; false: it passed more
 * than 5 ms ago. */
static bool set_times(struct load *load)
{
    const struct spec *spec = load->spec;
    const uint64_t now = clock_now_ns();
    struct fault fault = {0};
    if (spec->start_at_ns && spec->start_at_ns + START_LATE_MAX_NS < now) {
        fault_set(&fault, FAULT_SERVER, "late",
                  "ready %.3f s after start_at_ns: the window would not be that of the others",
                  (double)(now - spec->start_at_ns) / 1e9);
        job_fault(&fault, -1, EXIT_LATE);
        return false;
    }
    load->start_ns = spec->start_at_ns ? spec->start_at_ns : now + START_DELAY_NS;
    load->window_start_ns = load->start_ns + (uint64_t)(spec->warmup_s * 1e9);
    load->window_end_ns = NS_NEVER;
    load->wall_ahead_ns = clock_wall_ahead_ns();
    if (spec->duration_s > 0)
        load->window_end_ns = load->window_start_ns + (uint64_t)(spec->duration_s * 1e9);
    return true;
}

/* Each within its time, or until a signal; returns how many could not connect. */
static uint32_t await_workers(const struct job *job, struct load *load, uint64_t count,
                              int signal_fd)
{
    struct guard guard = {.done_fd = load->gate.arrived_fd, .signal_fd = signal_fd};
    char doing[96];
    uint32_t failed;
    guard_allow_s(&guard, job->spec.connect_timeout_s + JOB_SLACK_S);
    guard.step_ns = (uint64_t)((job->spec.connect_timeout_s + JOB_SLACK_S) * 1e9);
    const enum guard_end end = guard_wait(&guard, count);
    const uint32_t arrived = gate_count(&load->gate, &failed);
    if (end == GUARD_DONE)
        return failed;
    snprintf(doing, sizeof doing, "connecting (%u of %llu workers are ready)", arrived - failed,
             (unsigned long long)count);
    job_abandon(job, end, doing);
}

static enum exitcode start_workers(const struct job *job, struct load *load, struct parts *parts,
                                   int signal_fd)
{
    const uint64_t threads = load->spec->threads;
    for (uint64_t i = 0; i < threads; i++) {
        struct worker *w = &parts->workers[i];
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break;
        parts->started++;
    }
    const uint32_t failed = await_workers(job, load, parts->started, signal_fd);
    if (parts->started == threads && failed == 0) {
        const bool is_timely = set_times(load);
        gate_open(&load->gate, is_timely);
        return is_timely ? EXIT_DONE : EXIT_LATE;
    }
    gate_open(&load->gate, false);
    for (uint64_t i = 0; i < parts->started; i++)
        if (!parts->workers[i].connection)
            return job_fault(&parts->workers[i].fault, (int64_t)i, EXIT_UNREACHABLE);
    fputs("scale-loadgen: cannot start so many threads\n", stderr);
    return EXIT_INTERNAL;
}

static enum exitcode run(const struct job *job, struct load *load, struct parts *parts,
                         int signal_fd)
{
    struct report report = {0};
    enum exitcode code = start_workers(job, load, parts, signal_fd);
    if (code == EXIT_DONE) {
        reporter_run(load, parts->workers, signal_fd, &report);
        trace_close(load, parts->workers);
        code = summary_report(load, parts->workers, &report);
        if (report.abandoned) { /* a worker hangs and cannot be joined */
            for (uint64_t i = 0; i < parts->started; i++)
                pthread_detach(parts->workers[i].thread);
            output_finish();
            _exit(code);
        }
    }
    for (uint64_t i = 0; i < parts->started; i++)
        pthread_join(parts->workers[i].thread, NULL);
    return code;
}

static void release(struct job *job, struct load *load, struct parts *parts)
{
    for (uint64_t i = 0; i < parts->made; i++) {
        trace_free(&parts->workers[i].trace);
        worker_free(&parts->workers[i]);
    }
    if (load->trace_file)
        fclose(load->trace_file);
    if (parts->shares)
        placement_free(parts->shares, (uint32_t)job->spec.threads);
    free(parts->workers);
    free(parts->shares);
    free(parts->partition_of);
    gate_free(&load->gate);
    faults_free(&load->faults);
    close(load->done_fd);
}

enum exitcode verb_load(struct job *job)
{
    struct parts parts = {0};
    struct load load = {.spec = &job->spec,
                        .schema = &job->schema,
                        .ops = job->ops,
                        .subscribes = job_subscribes(job),
                        .operations = &job->operations,
                        .turns = &job->turns,
                        .is_unanswered = job->setup.method->features & FEATURE_UNANSWERED,
                        .request_timeout_ns = (uint64_t)(job->spec.request_timeout_s * 1e9),
                        .drain_ns = (uint64_t)(job->spec.drain_s * 1e9),
                        .driver = job->driver,
                        .done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const int signal_fd = reporter_take_signals();
    gate_init(&load.gate);
    faults_init(&load.faults);
    enum exitcode code = trace_open(&load) ? prepare(job, &load, &parts, signal_fd) : EXIT_SPEC;
    if (code == EXIT_DONE) {
        event_hello(&job->setup, job->ops, job->driver, parts.partition_of);
        code = run(job, &load, &parts, signal_fd);
    }
    release(job, &load, &parts);
    close(signal_fd);
    return code;
}
