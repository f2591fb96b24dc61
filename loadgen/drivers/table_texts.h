/* A text for each table, made once. */
#ifndef SCALE_TABLE_TEXTS_H
#define SCALE_TABLE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct table_texts { /* read-only once made */
    char *bytes;     /* all texts, one behind the other */
    uint64_t *at;    /* where each one begins; tables + 1 */
    uint32_t longest;
};

/* `put` writes at most `most` bytes and returns their end. `spare` bytes behind the last text can
 * be read. False: out of memory; free all the same. */
bool table_texts_make(struct table_texts *texts, uint64_t tables, size_t most, size_t spare,
                      char *(*put)(void *context, uint32_t table, char *out), void *context);
void table_texts_free(struct table_texts *texts);

static inline const char *table_text(const struct table_texts *texts, uint32_t table,
                                     uint32_t *length)
{
    const uint64_t at = texts->at[table];
    *length = (uint32_t)(texts->at[table + 1] - at);
    return texts->bytes + at;
}

#endif
