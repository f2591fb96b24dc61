/* The tags of a table as SQL literals: like rows, a pure function of (seed, table). For drivers
 * that create tables; nothing here is fast, or needs to be. */
#ifndef SCALE_TAGS_H
#define SCALE_TAGS_H

#include "schema.h"
#include "spec.h"

enum { TAG_TEXT_MAX = 512 };

/* Reads "tag_0:50,tag_1:10": tags of text that have so many values, `tag_prefix` and a number. The
 * tables go through all combinations, the last tag first, so that each is as frequent as the
 * others. Every mistake is reported under `tag_groups`. */
void tags_group(struct schema *schema, const struct spec *spec, struct mistakes *mistakes);

/* `out` holds TAG_TEXT_MAX bytes; returns the length. */
uint32_t tag_literal(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char *out);

/* The same as text: a literal without its quotes. It lies in `out`; *length: its bytes. */
const char *tag_text(const struct spec *spec, const struct schema *schema, uint32_t tag,
                     uint32_t table, char out[TAG_TEXT_MAX], uint32_t *length);

#endif
