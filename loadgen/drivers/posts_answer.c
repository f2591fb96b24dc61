/* Counts the rows of an answer; see posts_answer.h. */
#include "posts_answer.h"

#include <stdlib.h>
#include <string.h>

#include "../digest.h"

struct word { /* of the text, without quotes; NULL: none */
    const char *at;
    size_t length;
};

struct scan {
    const char *at;
    struct answer *answer;
    struct word column, first_column;
    bool has_first;
    const char *error; /* the value of a member of this name */
};

const char *posts_behind_string(const char *at) /* at its opening quote */
{
    for (at++; *at && *at != '"'; at++)
        if (*at == '\\' && at[1])
            at++;
    return *at ? at + 1 : at;
}

static const char *behind_value(const char *at) /* that is neither a list nor an object */
{
    return *at == '"' ? posts_behind_string(at) : at + strcspn(at, ",]} \t\r\n");
}

static uint64_t digest_value(uint64_t digest, const char *at, const char *end)
{
    const size_t length = (size_t)(end - at);
    if (*at == '"')
        return digest_text(digest, at + 1, length - 2);
    if (*at == 'n')
        return digest_word(digest, DIGEST_NULL);
    if (*at == 't' || *at == 'f')
        return digest_word(digest, *at == 't');
    if (memchr(at, '.', length) || memchr(at, 'e', length))
        return digest_real(digest, strtod(at, NULL));
    return digest_word(digest, (uint64_t)strtoll(at, NULL, 10));
}

/* A list of rows, from its bracket on. On anything else than lists of plain values it ends early.
 */
static void count_rows(struct scan *s)
{
    struct answer *answer = s->answer;
    uint32_t depth = 0;
    do {
        s->at += strspn(s->at, ", \t\r\n");
        if (*s->at == '[') {
            depth++;
            s->at++;
        } else if (*s->at == ']') {
            answer->rows += depth == 2;
            if (depth == 2 && answer->wants_digest)
                answer->digest = digest_word(answer->digest, DIGEST_ROW);
            depth--;
            s->at++;
        } else {
            const char *end = behind_value(s->at);
            if (end == s->at || !*end)
                return;
            answer->values++;
            if (answer->wants_digest)
                answer->digest = digest_value(answer->digest, s->at, end);
            s->at = end;
        }
    } while (depth > 0);
}

static bool is_named(struct word name, const char *wanted)
{
    return wanted && strlen(wanted) == name.length && memcmp(name.at, wanted, name.length) == 0;
}

/* The lists of a member: rows, or more values of those that were counted already. */
static void take_rows(struct scan *s)
{
    const uint64_t before = s->answer->rows;
    if (!s->has_first)
        s->first_column = s->column;
    s->has_first = true;
    count_rows(s);
    if (s->column.length != s->first_column.length ||
        (s->column.length && memcmp(s->column.at, s->first_column.at, s->column.length) != 0))
        s->answer->rows = before;
    s->column = (struct word){0};
}

const char *posts_count(const struct posts_answer *form, const char *text, struct answer *answer)
{
    struct scan s = {.at = text, .answer = answer};
    while (*(s.at += strcspn(s.at, "\""))) {
        struct word name = {s.at + 1, 0};
        s.at = posts_behind_string(s.at);
        name.length = (size_t)(s.at - name.at) - 1;
        s.at += strspn(s.at, " \t\r\n");
        if (*s.at != ':')
            continue;
        s.at += 1 + strspn(s.at + 1, " \t\r\n");
        if (is_named(name, form->rows) && *s.at == '[')
            take_rows(&s);
        else if (is_named(name, "error") && *s.at == '"')
            s.error = s.at;
        else if (is_named(name, form->column) && *s.at == '"' && !s.column.at)
            s.column = (struct word){s.at + 1, (size_t)(posts_behind_string(s.at) - s.at) - 1};
    }
    return s.error;
}
