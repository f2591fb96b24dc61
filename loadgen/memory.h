/* Compares the memory that a spec needs with the machine's before anything is allocated, so that
 * the kernel kills no program in a load. */
#ifndef SCALE_MEMORY_H
#define SCALE_MEMORY_H

#include "schema.h"
#include "spec.h"

void memory_check(const struct spec *spec, const struct schema *schema, struct mistakes *mistakes);

#endif
