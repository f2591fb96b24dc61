/* Opens client libraries at run time, by the given name or their usual ones, and their functions by
 * name. */
#ifndef SCALE_LIBRARY_H
#define SCALE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

#include "fault.h"

struct symbol {
    const char *name;
    void *slot; /* address of a function pointer; void *, so that no cast between pointer kinds is
                   needed */
};

/* `usual` ends with NULL; `remedy` says what to do if none of them exists. */
void *library_open(const char *wanted, const char *const *usual, const char *remedy,
                   struct fault *fault);
bool library_find(void *handle, const struct symbol *symbols, size_t count, const char *hint,
                  struct fault *fault);

/* The file that has the function whose pointer is at `slot`, "" if that is not known. */
void library_path_of(const void *slot, char *path, size_t size);

#endif
