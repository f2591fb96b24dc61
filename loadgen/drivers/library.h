/* Opens client libraries at run time, and finds their functions by name. */
#ifndef SCALE_LIBRARY_H
#define SCALE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"

struct symbol {
    const char *name;
    void *slot; /* address of a function pointer; void *, without a cast between kinds */
};

/* `usual` ends with NULL; `remedy`: what to do if none exists. */
void *library_open(const char *wanted, const char *const *usual, const char *remedy,
                   struct fault *fault);
bool library_find(void *handle, const struct symbol *symbols, size_t count, const char *hint,
                  struct fault *fault);

/* The file with the function at `slot`, "" if not known. */
void library_path_of(const void *slot, char *path, size_t size);

#endif
