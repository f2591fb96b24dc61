/* Calls all that a driver has, on a server or a client library that answers what the tape says:
 * places, connects, prepares, writes, asks, runs a statement, and again on a connection that may be
 * broken. It judges no answer; the sanitizers do. */
#include <stdlib.h>
#include <string.h>

#include "asks.h"
#include "fuzz.h"
#include "placement.h"
#include "values.h"

static void take_column(void *context, const char *name)
{
    *(size_t *)context += strlen(name);
}

static void take_row(void *context)
{
    ++*(size_t *)context;
}

static void take_value(void *context, const char *text, size_t length, bool is_number)
{
    (void)is_number;
    for (size_t i = 0; text && i < length; i++)
        *(size_t *)context += (unsigned char)text[i];
}

static void take_affected(void *context, uint64_t rows)
{
    *(size_t *)context += rows;
}

static void make_batch(const struct job *job, struct batch *batch)
{
    struct maker *maker = aligned_alloc(_Alignof(struct maker), sizeof *maker);
    const uint32_t rows = (uint32_t)job->spec.rows_per_request;
    if (!maker)
        abort();
    memset(maker, 0, sizeof *maker);
    if (values_init(maker, &job->spec, &job->schema) ||
        batch_init(batch, &job->schema, rows, 2, 0, job->schema.column_count, false))
        abort();
    batch->slice_count = 2;
    batch->rows = rows;
    batch->slices[0] = (struct slice){.table = 0, .rows = rows / 2};
    batch->slices[1] =
        (struct slice){.table = 1, .rows = rows - rows / 2, .offset = rows / 2, .first_row = 5};
    values_make(maker, batch);
    values_free(maker);
    free(maker);
}

static bool prepare_all(const struct job *job, struct connection *c)
{
    struct fault fault;
    for (uint32_t i = 0; i < job->operations.count; i++) {
        const struct ask *ask = job->operations.list[i].ask;
        if (ask && job->ops->prepare(c, i, ask->text, &fault) != OUTCOME_OK)
            return false;
    }
    return job->operations.has_ask;
}

/* False: the connection is good for nothing more. */
static bool ask_all(const struct job *job, struct connection *c, uint64_t hash)
{
    struct drawn drawn;
    struct fault fault;
    for (uint32_t i = 0; i < job->operations.count; i++) {
        const struct ask *ask = job->operations.list[i].ask;
        struct answer answer = {.wants_digest = true};
        if (!ask)
            continue;
        ask_draw(ask, &job->spec, hash, &drawn);
        if (job->ops->ask(c, i, drawn.parameters, 0, &answer, &fault) == OUTCOME_FATAL)
            return false;
    }
    return true;
}

static void use(const struct job *job, struct connection *c, const struct batch *batch)
{
    size_t seen = 0;
    const struct result_sink sink = {&seen, take_column, take_row, take_value, take_affected};
    struct fault fault;
    uint64_t acked = 0;
    const bool is_prepared = prepare_all(job, c);
    for (uint64_t turn = 0; turn < 3; turn++) {
        if (job->ops->send(c, batch, 0, &acked, &fault) == OUTCOME_FATAL ||
            (is_prepared && !ask_all(job, c, turn)) ||
            (job->ops->sql && job->ops->sql(c, "a statement", &sink, &fault) == OUTCOME_FATAL))
            return;
    }
    if (job->ops->create_tables)
        job->ops->create_tables(c, 0, (uint32_t)job->spec.tables, &fault);
}

void fuzz_driver(const struct harness *harness)
{
    struct job job;
    struct batch batch;
    struct connection *c = NULL;
    struct fault fault;
    uint32_t partition_of[8];
    char name[DRIVER_NAME_MAX];
    if (job_read(&job, harness->spec, VERB_LOAD) != EXIT_DONE || job.spec.tables > 8)
        abort();
    if (strcmp(job.ops->name, "postgres") == 0)
        fuzz_give_libpq(job.driver);
    make_batch(&job, &batch);
    if (job.ops->place(job.driver, partition_of, &fault) == OUTCOME_OK) {
        if (job.ops->table_name)
            job.ops->table_name(job.driver, 1, name);
        if (job.ops->connect(job.driver, 0, &c, &fault) == OUTCOME_OK) {
            use(&job, c, &batch);
            job.ops->disconnect(c);
        }
    }
    batch_free(&batch);
    job_close(&job);
}
