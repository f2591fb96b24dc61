/* The mistakes of a spec, each reported with its key. */
#ifndef SCALE_MISTAKES_H
#define SCALE_MISTAKES_H

#include <stddef.h>

struct mistakes {
    unsigned count;
};

void mistake_add(struct mistakes *mistakes, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* NULL: none is near. */
const char *nearest_name(const char *word, const char *const *names, size_t count);

#endif
