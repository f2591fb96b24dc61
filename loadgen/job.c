/* See job.h. */
#include "job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "laws.h"
#include "memory.h"
#include "output.h"
#include "sample_file.h"
#include "tags.h"
#include "tags_file.h"

static bool is_option(const void *context, const char *key)
{
    return driver_has_option(context, key);
}

/* NULL: the spec names none, or one that is not here. */
static const struct driver_ops *find_driver(const char *text, struct mistakes *mistakes,
                                            bool *is_missing)
{
    char name[64];
    const char *names[16];
    size_t count = 0;
    *is_missing = false;
    if (!spec_peek(text, "driver", name, sizeof name))
        return NULL;
    const struct driver_ops *ops = driver_find(name);
    if (ops)
        return ops;
    for (; drivers[count] && count < sizeof names / sizeof *names; count++)
        names[count] = drivers[count]->name;
    const char *nearest = nearest_name(name, names, count);
    mistake_add(mistakes, "driver", "'%s' is not compiled in%s%s%s", name,
                nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    *is_missing = true;
    return NULL;
}

static void check_method(struct job *job, enum verb verb, struct mistakes *mistakes)
{
    if (!job->spec.method)
        job->spec.method = job->ops->methods[0].name;
    const struct driver_method *method = driver_find_method(job->ops, job->spec.method);
    job->setup.method = method;
    if (!method)
        mistake_add(mistakes, "method", "driver %s has no method '%s'", job->ops->name,
                    job->spec.method);
    else if (verb == VERB_LOAD && job->spec.request_timeout_s > 0 &&
             !(method->features & FEATURE_DEADLINE))
        mistake_add(mistakes, "request_timeout_s",
                    "driver %s cannot end a request of method %s before its answer comes",
                    job->ops->name, method->name);
    else if (job->spec.sending == SENDING_STUBBED &&
             (verb != VERB_LOAD || !(method->features & FEATURE_SEPARABLE)))
        mistake_add(mistakes, "sending",
                    "driver %s cannot make a request of method %s without sending it",
                    job->ops->name, method->name);
}

bool job_subscribes(const struct job *job)
{
    return job->setup.method && (job->setup.method->features & FEATURE_SUBSCRIBES);
}

static void check_subscription(const struct job *job, struct mistakes *mistakes)
{
    if (job->operations.has_write || job->operations.count != 1)
        mistake_add(mistakes, "operations", "method %s has one operation, and it asks",
                    job->spec.method);
    if (!job->spec.rounds || job->spec.items || job->spec.rate > 0)
        mistake_add(mistakes, "rounds", "method %s needs rounds, without items and rate",
                    job->spec.method);
    if (job->operations.count == 1 && job->operations.list[0].ask &&
        job->operations.list[0].ask->before)
        mistake_add(mistakes, "operations", "method %s has no statement before a message",
                    job->spec.method);
}

static void check_asks(const struct job *job, struct mistakes *mistakes)
{
    if (!job->operations.has_ask)
        return;
    if (job->ops && !job->ops->ask)
        mistake_add(mistakes, "operations", "driver %s can only write", job->ops->name);
    if (job->spec.sending == SENDING_STUBBED)
        mistake_add(mistakes, "sending", "stubbed is for loads that only write");
    for (uint32_t i = 0; job->ops && !job->ops->sql && i < job->operations.count; i++)
        if (job->operations.list[i].ask &&
            (job->operations.list[i].ask->before || job->operations.list[i].ask->result))
            mistake_add(mistakes, "operations", "%s: driver %s runs no statements",
                        job->operations.list[i].name, job->ops->name);
    if (!job->operations.has_write && job->spec.duration_s <= 0 && !job->spec.rounds &&
        !job->spec.requests)
        mistake_add(mistakes, "duration_s",
                    "is needed, or rounds or requests: operations without write have no rows");
}

static void check_partial(const struct job *job, struct mistakes *mistakes)
{
    if (job->spec.partial_from + job->spec.partial_columns > job->schema.column_count)
        mistake_add(mistakes, "partial_columns", "there are only %u columns",
                    job->schema.column_count);
}

static void check_texts(const struct job *job, struct mistakes *mistakes)
{
    const struct driver_ops *ops = job->ops;
    struct fault fault = {0};
    char key[128];
    for (uint32_t i = 0; i < job->operations.count; i++) {
        const struct operation *operation = &job->operations.list[i];
        const struct ask *ask = operation->ask;
        if (!ask)
            continue;
        snprintf(key, sizeof key, "ask.%s.text", operation->name);
        if (marks_count(&ask->marks, MARK_PART) && !ops->has_parts)
            mistake_add(mistakes, key, "driver %s has no {part}", ops->name);
        else if (ops->check_ask &&
                 ops->check_ask(job->driver, &ask->marks, ask->text, &fault) != OUTCOME_OK)
            mistake_add(mistakes, key, "%s", fault.message);
    }
}

enum exitcode job_read(struct job *job, const char *path, enum verb verb)
{
    struct mistakes mistakes = {0};
    struct fault fault = {0};
    bool is_missing;
    memset(job, 0, sizeof *job);
    char *text = spec_load_text(path);
    if (!text)
        return EXIT_SPEC;
    job->ops = find_driver(text, &mistakes, &is_missing);
    spec_read(&job->spec, text, is_option, job->ops, &mistakes);
    spec_check(&job->spec, verb, &mistakes);
    schema_read(&job->schema, job->spec.columns, job->spec.tags, &mistakes);
    schema_round(&job->schema, job->spec.decimals, &mistakes);
    tags_group(&job->schema, &job->spec, &mistakes);
    laws_read(job->spec.values, &job->schema, &mistakes);
    if (mistakes.count == 0) {
        sample_file_read(&job->schema, &job->spec, &mistakes);
        tags_file_read(&job->schema, &job->spec, &mistakes);
    }
    operations_read(&job->operations, &job->spec, &mistakes);
    if (verb == VERB_LOAD)
        turns_read(&job->turns, &job->spec, &job->operations, &mistakes);
    if (job->ops)
        check_method(job, verb, &mistakes);
    if (verb == VERB_LOAD)
        check_asks(job, &mistakes);
    if (verb == VERB_LOAD && job_subscribes(job))
        check_subscription(job, &mistakes);
    check_partial(job, &mistakes);
    if (mistakes.count || !job->ops) /* no driver is a mistake already */
        return is_missing && mistakes.count == 1 ? EXIT_MISSING : EXIT_SPEC;
    const char *lack = driver_lacks(job->ops);
    if (lack) {
        fprintf(stderr, "scale-loadgen: driver %s lacks the %s\n", job->ops->name, lack);
        return EXIT_MISSING;
    }
    if (verb == VERB_ROWS || verb == VERB_SUMS) /* no driver is asked */
        return EXIT_DONE;
    job->setup = (struct driver_setup){.spec = &job->spec,
                                       .schema = &job->schema,
                                       .method = job->setup.method,
                                       .password = getenv("SCALE_PASSWORD"),
                                       .is_sending_stubbed = job->spec.sending == SENDING_STUBBED};
    if (job->ops->open(&job->setup, &job->driver, &fault) != OUTCOME_OK)
        return job_fault(&fault, -1, EXIT_INTERNAL);
    if (verb == VERB_LOAD) {
        check_texts(job, &mistakes);
        memory_check(&job->spec, &job->schema, &mistakes);
    }
    return mistakes.count ? EXIT_SPEC : EXIT_DONE;
}

enum exitcode job_open(struct job *job, const char *path, enum verb verb)
{
    struct fault fault = {0};
    const enum exitcode code = job_read(job, path, verb);
    if (code != EXIT_DONE || !job->driver || !job->ops->load_library ||
        job->ops->load_library(job->driver, &fault) == OUTCOME_OK)
        return code;
    return job_fault(&fault, -1, EXIT_UNREACHABLE);
}

void job_close(struct job *job)
{
    if (job->driver)
        job->ops->close(job->driver);
    turns_free(&job->turns);
    operations_free(&job->operations);
    sample_file_free(job->schema.sample);
    tags_file_free(job->schema.tags_file);
    schema_free(&job->schema);
    spec_free(&job->spec);
}

enum exitcode job_fault(const struct fault *fault, int64_t worker, enum exitcode otherwise)
{
    event_error(fault, worker, 1);
    fprintf(stderr, "scale-loadgen: %s: %s\n", fault->kind == FAULT_SPEC ? "spec" : fault->code,
            fault->message);
    switch (fault->kind) {
    case FAULT_LIBRARY:
        return EXIT_MISSING;
    case FAULT_SPEC:
        return EXIT_SPEC;
    default:
        return otherwise;
    }
}

double job_place_bound_s(const struct spec *spec)
{
    return 2 * spec->connect_timeout_s + JOB_SLACK_S + (double)spec->tables * 1e-4;
}

double job_create_bound_s(const struct spec *spec)
{
    return 2 * spec->connect_timeout_s + JOB_SLACK_S + (double)spec->tables * 1e-2;
}

_Noreturn void job_abandon(const struct job *job, enum guard_end why, const char *doing)
{
    const struct spec *spec = &job->spec;
    const char *host = spec->socket_dir ? spec->socket_dir : spec->host;
    struct fault fault = {0};
    enum exitcode code = EXIT_INTERNAL;
    if (why == GUARD_SIGNALLED) {
        fault_set(&fault, FAULT_SERVER, "interrupted", "interrupted: %s", doing);
        code = EXIT_INTERRUPTED;
    } else if (why == GUARD_LATE) {
        fault_set(&fault, FAULT_SERVER, "deadline", "%s: no answer in time from %s (driver %s)",
                  doing, host ? host : "the server", job->ops->name);
        code = EXIT_UNREACHABLE;
    } else {
        fault_set(&fault, FAULT_SERVER, "THREAD", "%s: cannot start a thread", doing);
    }
    job_fault(&fault, -1, code);
    output_finish();
    _exit((int)code);
}

struct placing { /* shared with the thread that places */
    struct job *job;
    uint32_t *partition_of;
    enum outcome outcome;
    struct fault fault;
};

static void place(void *argument)
{
    struct placing *placing = argument;
    const struct job *job = placing->job;
    placing->outcome = job->ops->place(job->driver, placing->partition_of, &placing->fault);
}

enum exitcode job_place(struct job *job, uint32_t *partition_of, int signal_fd)
{
    struct placing placing = {.job = job, .partition_of = partition_of};
    struct guard guard = {.signal_fd = signal_fd};
    guard_allow_s(&guard, job_place_bound_s(&job->spec));
    const enum guard_end end = guard_run(&guard, place, &placing);
    if (end != GUARD_DONE)
        job_abandon(job, end, "placing the tables");
    return placing.outcome == OUTCOME_OK ? EXIT_DONE
                                         : job_fault(&placing.fault, -1, EXIT_UNREACHABLE);
}
