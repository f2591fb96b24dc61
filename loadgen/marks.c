/* See marks.h. */
#include "marks.h"

#include <stdio.h>
#include <string.h>

static const char *const names[MARK_COUNT] = {"",      "device", "from",  "to",   "at",
                                              "value", "item",   "again", "part", "until"};

static enum mark find(const char *name, size_t length)
{
    for (int i = MARK_NONE + 1; i < MARK_COUNT; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return (enum mark)i;
    return MARK_NONE;
}

static bool add(struct marks *marks, const char *plain, const char *end, enum mark mark)
{
    if (marks->count == PIECES_MAX || (mark && marks->parameter_count == PARAMETERS_MAX))
        return false;
    marks->parameter_count += mark != MARK_NONE;
    marks->pieces[marks->count++] = (struct text_piece){plain, (uint32_t)(end - plain), mark};
    return true;
}

bool marks_read(struct marks *marks, const char *text, char *why, size_t why_size)
{
    const char *plain = text, *at = text;
    bool ok = true;
    marks->count = marks->parameter_count = 0;
    while (ok && *(at += strcspn(at, "{}"))) {
        const char *close = *at == '{' ? strchr(at, '}') : NULL;
        enum mark mark = MARK_NONE;
        if (at[1] == *at) { /* an escaped brace */
            ok = add(marks, plain, at + 1, MARK_NONE);
            plain = at += 2;
        } else if (!close) {
            snprintf(why, why_size, "'%.20s': a single brace is written twice, as {{ or }}", at);
            return false;
        } else if ((mark = find(at + 1, (size_t)(close - at - 1))) == MARK_NONE) {
            snprintf(why, why_size,
                     "'%.*s' is none of {device}, {from}, {to}, {until}, {at}, {value}, {item}, "
                     "{again}, {part}; a brace is {{ or }}",
                     (int)(close - at < 20 ? close - at + 1 : 20), at);
            return false;
        } else if (mark == MARK_AGAIN && marks_count(marks, MARK_DEVICE) == 0) {
            snprintf(why, why_size, "{again} comes before any {device}");
            return false;
        } else {
            ok = add(marks, plain, at, mark);
            plain = at = close + 1;
        }
    }
    if (ok && add(marks, plain, plain + strlen(plain), MARK_NONE))
        return true;
    snprintf(why, why_size, "more than %d marks", PARAMETERS_MAX);
    return false;
}

uint32_t marks_count(const struct marks *marks, enum mark mark)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < marks->count; i++)
        count += marks->pieces[i].mark == mark;
    return count;
}
