/* Collects the mistakes of a spec: each is reported on standard error with its key, all of them
 * before anything starts. It decides nothing: the caller looks at the count. */
#ifndef SCALE_MISTAKES_H
#define SCALE_MISTAKES_H

#include <stddef.h>

struct mistakes {
    unsigned count;
};

void mistake_add(struct mistakes *mistakes, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The member of `names` nearest to `word`, or NULL when none is near enough to be meant. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
