/* The tags of a table as SQL literals: like rows, a pure function of (seed, table). It is not
 * fast, and need not be: drivers encode tags once. */
#ifndef SCALE_TAGS_H
#define SCALE_TAGS_H

#include "schema.h"
#include "spec.h"

enum { TAG_TEXT_MAX = 512 };

/* Reads "tag_0:50,tag_1:10": numbers of values of text tags, which are `tag_prefix` and a
 * number. The tables go through all combinations, the last tag first, so that each is as
 * frequent as the others. Mistakes are reported under `tag_groups`. */
void tags_group(struct schema *schema, const struct spec *spec, struct mistakes *mistakes);

/* Writes up to TAG_TEXT_MAX bytes; returns the length. */
uint32_t tag_literal(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char *out);

/* Returns a tag as text, a literal without its quotes, which lies in `out`; *length: its bytes. */
const char *tag_text(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char out[TAG_TEXT_MAX], uint32_t *length);

#endif
