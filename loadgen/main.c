/* scale-loadgen: puts a load on one database and reports its answers. This file has the command
 * line. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "events.h"
#include "job.h"
#include "output.h"

static const char help[] =
    "usage: scale-loadgen VERB [SPEC|-]\n"
    "\n"
    "verbs\n"
    "  load SPEC     load rows, ask queries, report as JSON lines on standard output\n"
    "  tables SPEC   create the tables\n"
    "  sql SPEC      run statements, one a line (of the file that the spec's key `statements`\n"
    "                names, else of standard input)\n"
    "  library SPEC  open the driver's client library, connect to nothing: path and version\n"
    "  rows SPEC     tell the rows that the spec's key `rows_of` names, as they are sent\n"
    "  sums SPEC     tell the sums of the rows that the spec's key `sums_of` names\n"
    "  names SPEC    place the tables, tell the driver's name of each\n"
    "  drivers       list the drivers compiled in, as JSON\n"
    "  --check SPEC  check all that `load` would refuse; open no client library, connect to\n"
    "                nothing: 0 if the spec is right, 2 if not, 3 if the driver is missing\n"
    "  --version, --help\n"
    "\n"
    "SPEC is a file of key=value lines; - reads it from standard input. The keys and the events\n"
    "are described in docs/loadgen.md. The password comes from the environment variable\n"
    "SCALE_PASSWORD only.\n"
    "\n"
    "example\n"
    "  printf 'driver=null\\ntables=100\\nthreads=2\\nduration_s=5\\n' | scale-loadgen load -\n"
    "\n"
    "exit codes\n"
    "  0    done, every row acknowledged and every query answered\n"
    "  2    bad spec or usage; nothing was started\n"
    "  3    driver or client library missing\n"
    "  4    cannot connect, or cannot place the tables\n"
    "  5    fatal while loading\n"
    "  6    finished, but some rows were not acknowledged, or some queries failed (sql: some\n"
    "       statements)\n"
    "  7    internal: a fault of our own, or out of memory\n"
    "  8    ready too late for start_at_ns; nothing was sent\n"
    "  130  interrupted; the summary was printed\n";

static void put_names(struct json *json, const char *key, const char *const *names)
{
    json_begin(json, key, '[');
    for (; names && *names; names++)
        json_text(json, *names, strlen(*names));
    json_close(json, ']');
}

static void put_methods(struct json *json, const struct driver_method *methods)
{
    json_begin(json, "methods", '[');
    for (const struct driver_method *m = methods; m->name; m++)
        json_text(json, m->name, strlen(m->name));
    json_close(json, ']');
    json_begin(json, "features", '{');
    for (const struct driver_method *m = methods; m->name; m++)
        event_put_features(json, m->name, m->features);
    json_close(json, '}');
}

static enum exitcode list_drivers(void)
{
    struct json json = {0};
    json_open(&json, '[');
    for (size_t i = 0; drivers[i]; i++) {
        const struct driver_ops *ops = drivers[i];
        json_open(&json, '{');
        json_put_text(&json, "driver", ops->name);
        put_methods(&json, ops->methods);
        put_names(&json, "options", ops->options);
        json_put_text(&json, "libraries", ops->libraries);
        json_put_bool(&json, "create_tables", ops->create_tables != NULL);
        json_put_bool(&json, "sql", ops->sql != NULL);
        json_put_bool(&json, "ask", ops->ask != NULL);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    puts(json.text);
    json_free(&json);
    return EXIT_DONE;
}

static enum exitcode check(const char *path)
{
    struct job job;
    const enum exitcode code = job_read(&job, path, VERB_LOAD);
    job_close(&job);
    return code;
}

static enum exitcode tell_library(struct job *job)
{
    event_library(job->ops, job->driver);
    return EXIT_DONE;
}

static enum exitcode run_verb(const char *name, const char *path)
{
    static enum exitcode (*const verbs[])(struct job *) = {
        [VERB_LOAD] = verb_load, [VERB_TABLES] = verb_tables, [VERB_ROWS] = verb_rows,
        [VERB_SUMS] = verb_sums, [VERB_NAMES] = verb_names,   [VERB_LIBRARY] = tell_library};
    static const char *const names[] = {[VERB_LOAD] = "load", [VERB_TABLES] = "tables",
                                        [VERB_SQL] = "sql",   [VERB_LIBRARY] = "library",
                                        [VERB_ROWS] = "rows", [VERB_NAMES] = "names",
                                        [VERB_SUMS] = "sums"};
    const size_t count = sizeof names / sizeof *names;
    size_t verb = 0;
    struct job job;
    while (verb < count && strcmp(names[verb], name) != 0)
        verb++;
    if (verb == count) {
        fprintf(stderr, "scale-loadgen: no verb '%s'; see scale-loadgen --help\n", name);
        return EXIT_SPEC;
    }
    enum exitcode code = job_open(&job, path, (enum verb)verb);
    if (code == EXIT_DONE)
        code = verb == VERB_SQL ? verb_sql(&job, strcmp(path, "-") == 0) : verbs[verb](&job);
    job_close(&job);
    return code;
}

/* Without exit handlers: those of libtaos take 1.7 s. The leak sanitizer still runs. */
static int leave(enum exitcode code)
{
    if (!output_finish() && code == EXIT_DONE)
        code = EXIT_INTERNAL;
#ifndef __SANITIZE_ADDRESS__
    fflush(NULL);
    _exit((int)code);
#endif
    return (int)code;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        puts("scale-loadgen " SCALE_VERSION);
        return EXIT_DONE;
    }
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return EXIT_DONE;
    }
    if (argc == 2 && strcmp(argv[1], "drivers") == 0)
        return list_drivers();
    if (argc != 3) {
        fputs(help, stderr);
        return EXIT_SPEC;
    }
    if (strcmp(argv[1], "--check") == 0)
        return leave(check(argv[2]));
    return leave(run_verb(argv[1], argv[2]));
}
