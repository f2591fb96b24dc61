/* The verb `names`: places the tables and prints each one's name, as `{device}` has it, and tags.
 */
#include <stdio.h>
#include <stdlib.h>

#include "events.h"
#include "job.h"
#include "tags.h"

static void put_tag(struct json *json, const struct job *job, uint32_t tag)
{
    char text[TAG_TEXT_MAX];
    uint32_t length;
    json_begin(json, job->schema.tags[tag].name, '[');
    for (uint32_t table = 0; table < job->spec.tables; table++) {
        const char *plain = tag_text(&job->spec, &job->schema, tag, table, text, &length);
        json_text(json, plain, length);
    }
    json_close(json, ']');
}

static void put_names(const struct job *job)
{
    struct json json;
    char name[DRIVER_NAME_MAX];
    event_begin(&json, "names");
    json_begin(&json, "names", '[');
    for (uint32_t table = 0; table < job->spec.tables; table++)
        json_text(&json, name, job->ops->table_name(job->driver, table, name));
    json_close(&json, ']');
    json_begin(&json, "tags", '{');
    for (uint32_t tag = 0; tag < job->schema.tag_count; tag++)
        put_tag(&json, job, tag);
    json_close(&json, '}');
    event_end(&json);
}

enum exitcode verb_names(struct job *job)
{
    if (!job->ops->table_name) {
        fprintf(stderr, "scale-loadgen: driver %s has no names of tables\n", job->ops->name);
        return EXIT_SPEC;
    }
    uint32_t *partition_of = calloc(job->spec.tables, sizeof *partition_of);
    if (!partition_of)
        return EXIT_INTERNAL;
    const enum exitcode placed = job_place(job, partition_of, -1);
    free(partition_of);
    if (placed == EXIT_DONE)
        put_names(job);
    return placed;
}
