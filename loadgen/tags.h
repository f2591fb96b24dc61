/* Tags as SQL literals: a pure function of (seed, table). */
#ifndef SCALE_TAGS_H
#define SCALE_TAGS_H

#include "schema.h"
#include "spec.h"

enum { TAG_TEXT_MAX = 512 };

/* "tag_0:50,tag_1:10": numbers of values of text tags, `tag_prefix` and a number. Tables go through
 * all combinations, the last tag first. Mistakes under `tag_groups`. */
void tags_group(struct schema *schema, const struct spec *spec, struct mistakes *mistakes);

/* Writes up to TAG_TEXT_MAX bytes; returns the length. */
uint32_t tag_literal(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char *out);

/* Without its quotes, in `out`; *length: its bytes. */
const char *tag_text(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char out[TAG_TEXT_MAX], uint32_t *length);

#endif
