/* See table_texts.h. */
#include "table_texts.h"

#include <stdlib.h>

bool table_texts_make(struct table_texts *t, uint64_t tables, size_t most, size_t spare,
                      char *(*put)(void *context, uint32_t table, char *out), void *context)
{
    size_t used = 0, size = 0;
    *t = (struct table_texts){.at = calloc(tables + 1, sizeof *t->at)};
    if (!t->at)
        return false;
    for (uint32_t table = 0; table < tables; table++) {
        if (!t->bytes || used + most + spare > size) {
            size = 2 * size + most + spare;
            char *larger = realloc(t->bytes, size);
            if (!larger)
                return false;
            t->bytes = larger;
        }
        const char *end = put(context, table, t->bytes + used);
        const uint32_t length = (uint32_t)(end - (t->bytes + used));
        t->longest = length > t->longest ? length : t->longest;
        t->at[table + 1] = used += length;
    }
    return true;
}

void table_texts_free(struct table_texts *t)
{
    free(t->bytes);
    free(t->at);
}
