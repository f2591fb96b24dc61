/* The key `tags_file`: a line has the tags of one table as SQL literals with the byte 0x1f between;
 * table t has line t modulo the lines. */
#ifndef SCALE_TAGS_FILE_H
#define SCALE_TAGS_FILE_H

#include "schema.h"
#include "spec.h"

struct tags_file {
    uint64_t lines;
    const char **literals; /* literals of line n from n * tag_count on */
    char *text; /* literals point into it */
};

/* If the spec names a file. Mistakes under `tags_file`. */
void tags_file_read(struct schema *schema, const struct spec *spec, struct mistakes *mistakes);
void tags_file_free(struct tags_file *file);

const char *tags_file_literal(const struct schema *schema, uint32_t tag, uint32_t table);

#endif
