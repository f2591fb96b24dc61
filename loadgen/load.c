/* The verb `load`: places the tables, starts the workers together, reports, sums up. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "events.h"
#include "job.h"
#include "reporter.h"
#include "summary.h"

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

/* Zeroed, and aligned so that workers share no cache line. */
static struct worker *workers_new(uint64_t count)
{
    struct worker *workers = aligned_alloc(_Alignof(struct worker), count * sizeof *workers);
    for (uint64_t i = 0; workers && i < count; i++)
        workers[i] = (struct worker){.number = 0};
    return workers;
}

static enum exitcode prepare(struct job *job, struct load *load, struct parts *parts)
{
    const struct spec *spec = &job->spec;
    struct fault fault = {0};
    parts->partition_of = calloc(spec->tables, sizeof *parts->partition_of);
    parts->shares = calloc(spec->threads, sizeof *parts->shares);
    parts->workers = workers_new(spec->threads);
    if (!parts->partition_of || !parts->shares || !parts->workers)
        return out_of_memory();
    if (job->ops->place(job->driver, parts->partition_of, &fault) != OUTCOME_OK)
        return job_fault(&fault, -1, EXIT_UNREACHABLE);
    if (placement_share(spec, parts->partition_of, parts->shares))
        return out_of_memory();
    load->partition_of = parts->partition_of;
    for (uint64_t i = 0; i < spec->threads; i++) {
        parts->made++;
        if (worker_init(&parts->workers[i], load, (uint32_t)(spec->first_worker + i),
                        &parts->shares[i]))
            return out_of_memory();
    }
    return EXIT_DONE;
}

/* Fixes the times that all workers go by, in the future. */
static void set_times(struct load *load)
{
    const struct spec *spec = load->spec;
    const uint64_t soon = clock_now_ns() + START_DELAY_NS;
    load->start_ns = spec->start_at_ns > soon ? spec->start_at_ns : soon;
    if (spec->start_at_ns && spec->start_at_ns < soon)
        fprintf(stderr, "scale-loadgen: start_at_ns has passed by %.3f s: starting at once\n",
                (double)(soon - spec->start_at_ns) / 1e9);
    load->window_start_ns = load->start_ns + (uint64_t)(spec->warmup_s * 1e9);
    load->window_end_ns = NS_NEVER;
    if (spec->duration_s > 0)
        load->window_end_ns = load->window_start_ns + (uint64_t)(spec->duration_s * 1e9);
}

static enum exitcode start_workers(struct load *load, struct parts *parts)
{
    const uint64_t threads = load->spec->threads;
    for (uint64_t i = 0; i < threads; i++) {
        struct worker *w = &parts->workers[i];
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break;
        parts->started++;
    }
    const uint32_t failed = gate_wait(&load->gate, (uint32_t)parts->started);
    if (parts->started == threads && failed == 0) {
        set_times(load);
        gate_open(&load->gate, true);
        return EXIT_DONE;
    }
    gate_open(&load->gate, false);
    for (uint64_t i = 0; i < parts->started; i++)
        if (!parts->workers[i].connection)
            return job_fault(&parts->workers[i].fault, (int64_t)i, EXIT_UNREACHABLE);
    fputs("scale-loadgen: cannot start so many threads\n", stderr);
    return EXIT_INTERNAL;
}

static enum exitcode run(struct load *load, struct parts *parts, int signal_fd)
{
    struct report report = {0};
    enum exitcode code = start_workers(load, parts);
    if (code == EXIT_DONE) {
        reporter_run(load, parts->workers, signal_fd, &report);
        code = summary_tell(load, parts->workers, &report);
        if (report.abandoned) /* a request hangs in the client library: it cannot be joined */
            _exit(code);
    }
    for (uint64_t i = 0; i < parts->started; i++)
        pthread_join(parts->workers[i].thread, NULL);
    return code;
}

static void release(struct job *job, struct load *load, struct parts *parts)
{
    for (uint64_t i = 0; i < parts->made; i++)
        worker_free(&parts->workers[i]);
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
                        .operations = &job->operations,
                        .request_timeout_ns = (uint64_t)(job->spec.request_timeout_s * 1e9),
                        .driver = job->driver,
                        .done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    const int signal_fd = reporter_take_signals();
    gate_init(&load.gate);
    faults_init(&load.faults);
    enum exitcode code = prepare(job, &load, &parts);
    if (code == EXIT_DONE) {
        event_hello(&job->setup, job->ops, job->driver, parts.partition_of);
        code = run(&load, &parts, signal_fd);
    }
    release(job, &load, &parts);
    close(signal_fd);
    return code;
}
