/* See kept.h. */
#include "kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct keeping { /* the answer that is kept */
    FILE *file; /* NULL: the rows are not kept */
    struct answer *answer;
    bool is_in_row;
};

static void on_row(void *context)
{
    struct keeping *keeping = context;
    if (keeping->file && keeping->is_in_row)
        fputc('\n', keeping->file);
    keeping->is_in_row = false;
    keeping->answer->rows++;
}

static void on_value(void *context, const char *text, size_t length, bool is_number)
{
    struct keeping *keeping = context;
    (void)is_number;
    keeping->answer->values++;
    keeping->answer->bytes += text ? length : 0;
    if (!keeping->file)
        return;
    if (keeping->is_in_row)
        fputc(' ', keeping->file);
    keeping->is_in_row = true;
    if (text)
        fwrite(text, 1, length, keeping->file);
    else
        fputs("NULL", keeping->file);
}

static struct result_sink sink_of(struct keeping *keeping)
{
    return (struct result_sink){keeping,  content_no_column,   on_row,
                                on_value, content_no_affected, NULL};
}

/* On failure the outcome is fatal. */
static enum outcome flush(struct worker *w, struct keeping *keeping, enum outcome outcome)
{
    if (!keeping->file)
        return outcome;
    if (keeping->is_in_row)
        fputc('\n', keeping->file);
    if (fflush(keeping->file) == 0 || outcome == OUTCOME_FATAL)
        return outcome;
    fault_set(&w->fault, FAULT_SPEC, "RESULT", "ask.%s.result: cannot be written: %s",
              w->load->operations->list[w->operation].name, strerror(errno));
    return OUTCOME_FATAL;
}

static enum outcome run(struct worker *w, const char *statement, struct keeping *keeping)
{
    const struct result_sink sink = sink_of(keeping);
    return flush(w, keeping, w->load->ops->sql(w->connection, statement, &sink, &w->fault));
}

enum outcome kept_message(struct worker *w)
{
    struct keeping keeping = {.file = w->asking.kept[w->operation], .answer = &w->asking.answer};
    const struct result_sink sink = sink_of(&keeping);
    w->asking.answer = (struct answer){.sink = &sink};
    const enum outcome outcome =
        w->load->ops->ask(w->connection, w->operation, NULL, 0, &w->asking.answer, &w->fault);
    w->asking.answer.sink = NULL;
    return flush(w, &keeping, outcome);
}

enum outcome kept_open(struct worker *w, uint32_t operation)
{
    const struct operation *o = &w->load->operations->list[operation];
    char path[4096];
    snprintf(path, sizeof path, "%s-%u", o->ask->result, w->number);
    w->asking.kept[operation] = fopen(path, "a");
    if (w->asking.kept[operation])
        return OUTCOME_OK;
    fault_set(&w->fault, FAULT_SPEC, "RESULT", "ask.%s.result: cannot open %.200s: %s", o->name,
              path, strerror(errno));
    return OUTCOME_FATAL;
}

void kept_close(struct worker *w)
{
    for (uint32_t i = 0; i < OPERATIONS_MAX; i++)
        if (w->asking.kept[i])
            fclose(w->asking.kept[i]);
}

/* With the item of the turn; the caller frees it. */
static char *statement_of(const struct worker *w, const struct marks *marks)
{
    size_t size = 1;
    for (uint32_t i = 0; i < marks->count; i++)
        size += marks->pieces[i].length + (marks->pieces[i].mark ? (size_t)w->turn.length : 0);
    char *text = malloc(size), *out = text;
    for (uint32_t i = 0; text && i < marks->count; i++) {
        memcpy(out, marks->pieces[i].plain, marks->pieces[i].length);
        out += marks->pieces[i].length;
        if (marks->pieces[i].mark) {
            memcpy(out, w->turn.item, (size_t)w->turn.length);
            out += w->turn.length;
        }
    }
    if (text)
        *out = '\0';
    return text;
}

enum outcome kept_ask(struct worker *w)
{
    const struct ask *ask = w->load->operations->list[w->operation].ask;
    struct keeping keeping = {.file = w->asking.kept[w->operation], .answer = &w->asking.answer};
    char *statement = statement_of(w, &ask->marks);
    if (!statement) {
        fault_set(&w->fault, FAULT_SERVER, "MEMORY", "out of memory");
        return OUTCOME_FATAL;
    }
    const enum outcome outcome = run(w, statement, &keeping);
    free(statement);
    return outcome;
}

enum outcome kept_run(struct worker *w, const char *statement)
{
    struct answer answer = {.wants_digest = false};
    struct keeping keeping = {.answer = &answer};
    return run(w, statement, &keeping);
}
