/* The memory that a spec needs, compared with that of the machine before anything is allocated. It
 * counts what grows with the spec: requests, tables and the trace. The kernel would otherwise kill
 * a program, perhaps the server, in the middle of a load. */
#ifndef SCALE_MEMORY_H
#define SCALE_MEMORY_H

#include "schema.h"
#include "spec.h"

/* Reports a mistake under the key that needs most, if the machine has less memory. */
void memory_check(const struct spec *spec, const struct schema *schema, struct mistakes *mistakes);

#endif
