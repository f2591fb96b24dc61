/* The verb `sql`: runs statements, one per line, each answered by a JSON line. Empty lines and
 * comments (--) are skipped. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "job.h"

struct answer_json {
    struct json columns, rows;
    uint64_t affected;
};

static void on_column(void *context, const char *name)
{
    struct answer_json *answer = context;
    json_text(&answer->columns, name, strlen(name));
}

static void on_row(void *context)
{
    struct answer_json *answer = context;
    if (answer->rows.used)
        json_close(&answer->rows, ']');
    json_open(&answer->rows, '[');
}

static void on_value(void *context, const char *text, size_t length, bool is_number)
{
    json_value(&((struct answer_json *)context)->rows, text, length, is_number);
}

static void on_affected(void *context, uint64_t rows)
{
    ((struct answer_json *)context)->affected += rows;
}

static void put_answer(struct answer_json *answer)
{
    struct json json;
    if (answer->rows.used)
        json_close(&answer->rows, ']');
    event_begin(&json, "result");
    json_put_bool(&json, "ok", true);
    json_begin(&json, "columns", '[');
    json_append(&json, &answer->columns);
    json_close(&json, ']');
    json_begin(&json, "rows", '[');
    json_append(&json, &answer->rows);
    json_close(&json, ']');
    json_put_whole(&json, "affected", answer->affected);
    event_end(&json);
}

static void put_failure(const struct fault *fault)
{
    struct json json;
    event_begin(&json, "result");
    json_put_bool(&json, "ok", false);
    json_put_text(&json, "code", fault->code);
    json_put_text(&json, "message", fault->message);
    event_end(&json);
}

static enum outcome run_one(struct job *job, struct connection *connection, const char *statement)
{
    struct answer_json answer = {.affected = 0};
    struct fault fault = {0};
    const struct result_sink sink = {&answer, on_column, on_row, on_value, on_affected, NULL};
    const enum outcome outcome = job->ops->sql(connection, statement, &sink, &fault);
    if (outcome == OUTCOME_OK)
        put_answer(&answer);
    else
        put_failure(&fault);
    json_free(&answer.columns);
    json_free(&answer.rows);
    return outcome;
}

/* Without blanks and the last semicolon; empty for a comment. */
static char *statement_of(char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    char *end = line + strlen(line);
    while (end > line && (isspace((unsigned char)end[-1]) || end[-1] == ';'))
        *--end = '\0';
    return strncmp(line, "--", 2) == 0 ? end : line;
}

/* shared with the thread that talks to the server */
struct session {
    struct job *job;
    struct guard guard;
    char *text;
    enum exitcode code;
};

static enum exitcode run_all(struct session *session, struct connection *connection)
{
    enum exitcode code = EXIT_DONE;
    char *rest = session->text, *line;
    while (code != EXIT_FATAL && (line = strsep(&rest, "\n")) != NULL) {
        const char *statement = statement_of(line);
        if (!*statement)
            continue;
        guard_allow_s(&session->guard, session->job->spec.statement_timeout_s);
        const enum outcome outcome = run_one(session->job, connection, statement);
        if (outcome != OUTCOME_OK)
            code = outcome == OUTCOME_FATAL ? EXIT_FATAL : EXIT_ERRORS;
    }
    return code;
}

static void connect_and_run(void *argument)
{
    struct session *session = argument;
    const struct driver_ops *ops = session->job->ops;
    struct connection *connection = NULL;
    struct fault fault = {0};
    if (ops->connect(session->job->driver, 0, &connection, &fault) == OUTCOME_OK) {
        const char *const tls = ops->tls_version ? ops->tls_version(connection) : NULL;
        if (tls)
            event_connected(tls);
        session->code = run_all(session, connection);
    } else
        session->code = job_fault(&fault, -1, EXIT_UNREACHABLE);
    guard_allow_s(&session->guard, session->job->spec.connect_timeout_s);
    if (connection)
        ops->disconnect(connection);
}

enum exitcode verb_sql(struct job *job, bool spec_on_stdin)
{
    const char *path = job->spec.statements;
    if (!job->ops->sql) {
        fprintf(stderr, "scale-loadgen: driver %s has no sql\n", job->ops->name);
        return EXIT_SPEC;
    }
    if (!path && spec_on_stdin) {
        fputs("scale-loadgen: spec: statements: is needed when the spec is standard input\n",
              stderr);
        return EXIT_SPEC;
    }
    struct session session = {.job = job, .guard = {.signal_fd = -1}};
    session.text = spec_load_text(path ? path : "-");
    if (!session.text)
        return EXIT_SPEC;
    guard_allow_s(&session.guard, job->spec.connect_timeout_s + JOB_SLACK_S);
    const enum guard_end end = guard_run(&session.guard, connect_and_run, &session);
    if (end != GUARD_DONE)
        job_abandon(job, end, "sql");
    free(session.text);
    return session.code;
}
