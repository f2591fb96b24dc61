/* The tags of a table as SQL literals: like rows, a pure function of (seed, table). For drivers
 * that create tables; nothing here is fast, or needs to be. */
#ifndef SCALE_TAGS_H
#define SCALE_TAGS_H

#include "schema.h"
#include "spec.h"

enum { TAG_TEXT_MAX = 512 };

/* `out` holds TAG_TEXT_MAX bytes; returns the length. */
uint32_t tag_literal(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char *out);

#endif
