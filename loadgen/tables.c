/* The verb `tables`: each worker creates a part. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "events.h"
#include "job.h"

enum { PAUSE_NS = 100000000, ATTEMPTS_MAX = 100 };

struct creator {
    struct job *job;
    uint32_t worker, first, count;
    enum outcome outcome;
    struct fault fault;
    sem_t *ended;
};

static void *create(void *argument)
{
    struct creator *c = argument;
    const struct driver_ops *ops = c->job->ops;
    struct connection *connection = NULL;
    c->outcome = ops->connect(c->job->driver, c->worker, &connection, &c->fault);
    if (c->outcome == OUTCOME_OK)
        c->outcome = ops->create_tables(connection, c->first, c->count, &c->fault);
    for (int i = 1; c->outcome == OUTCOME_ERROR && c->fault.is_transient && i < ATTEMPTS_MAX; i++) {
        clock_sleep_until_ns(clock_now_ns() + PAUSE_NS);
        c->outcome = ops->create_tables(connection, c->first, c->count, &c->fault);
    }
    if (connection)
        ops->disconnect(connection);
    sem_post(c->ended);
    return NULL;
}

/* Whatever the partitions: creating tables is not measured. */
static enum exitcode create_all(struct job *job, struct creator *creators)
{
    const uint64_t threads = job->spec.threads, tables = job->spec.tables;
    enum exitcode code = EXIT_DONE;
    uint64_t started = 0;
    pthread_t thread;
    sem_t ended;
    sem_init(&ended, 0, 0);
    for (uint64_t i = 0; i < threads; i++, started++) {
        const uint64_t first = tables * i / threads, next = tables * (i + 1) / threads;
        creators[i] = (struct creator){.job = job,
                                       .worker = (uint32_t)i,
                                       .first = (uint32_t)first,
                                       .count = (uint32_t)(next - first),
                                       .ended = &ended};
        if (pthread_create(&thread, NULL, create, &creators[i]) != 0) {
            code = EXIT_INTERNAL;
            break;
        }
        pthread_detach(thread); /* not joined: one may hang for ever */
    }
    for (uint64_t i = 0; i < started; i++)
        while (sem_wait(&ended) != 0) /* a signal: again */
            continue;
    for (uint64_t i = 0; i < started; i++) {
        if (creators[i].outcome != OUTCOME_OK && code == EXIT_DONE)
            code = job_fault(&creators[i].fault, (int64_t)i, EXIT_UNREACHABLE);
    }
    return code;
}

struct creation { /* with the thread that waits for creators */
    struct job *job;
    uint32_t *partition_of;
    struct creator *creators;
    enum exitcode code;
};

static void place_and_create(void *argument)
{
    struct creation *creation = argument;
    struct job *job = creation->job;
    struct fault fault = {0};
    creation->code = job->ops->place(job->driver, creation->partition_of, &fault) == OUTCOME_OK
                         ? create_all(job, creation->creators)
                         : job_fault(&fault, -1, EXIT_UNREACHABLE);
}

enum exitcode verb_tables(struct job *job)
{
    struct guard guard = {.signal_fd = -1};
    struct json json;
    const uint64_t start_ns = clock_now_ns();
    if (!job->ops->create_tables) {
        fprintf(stderr, "scale-loadgen: driver %s has no create_tables\n", job->ops->name);
        return EXIT_SPEC;
    }
    struct creation creation = {.job = job, .code = EXIT_INTERNAL};
    creation.partition_of = calloc(job->spec.tables, sizeof *creation.partition_of);
    creation.creators = calloc(job->spec.threads, sizeof *creation.creators);
    if (creation.partition_of && creation.creators) {
        guard_allow_s(&guard, job_place_bound_s(&job->spec) + job_create_bound_s(&job->spec));
        const enum guard_end end = guard_run(&guard, place_and_create, &creation);
        if (end != GUARD_DONE)
            job_abandon(job, end, "creating the tables");
    }
    if (creation.code == EXIT_DONE) {
        event_begin(&json, "tables");
        json_put_whole(&json, "created", job->spec.tables);
        json_put_real(&json, "elapsed_s", (double)(clock_now_ns() - start_ns) / 1e9);
        event_end(&json);
    }
    free(creation.creators);
    free(creation.partition_of);
    return creation.code;
}
