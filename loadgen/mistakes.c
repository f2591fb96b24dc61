/* See mistakes.h. */
#include "mistakes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { WORD_MAX = 48 };

void mistake_add(struct mistakes *mistakes, const char *key, const char *format, ...)
{
    va_list arguments;
    mistakes->count++;
    fprintf(stderr, "scale-loadgen: spec: %s: ", key);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Edit distance, row by row. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[WORD_MAX + 1];
    const size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > WORD_MAX || b_length > WORD_MAX)
        return WORD_MAX;
    for (unsigned j = 0; j <= b_length; j++)
        row[j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            const unsigned replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

const char *nearest_name(const char *word, const char *const *names, size_t count)
{
    const char *best = NULL;
    unsigned best_distance = (unsigned)strlen(word) / 2 + 1;
    for (size_t i = 0; i < count; i++) {
        const unsigned d = distance(word, names[i]);
        if (d < best_distance) {
            best_distance = d;
            best = names[i];
        }
    }
    return best;
}
