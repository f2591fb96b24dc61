/* The names of the load's tables: the prefix and the number that placement chose. */
#include <string.h>

#include "numbers.h"
#include "tdengine_parts.h"

uint32_t tdengine_table_name(const struct driver *d, uint32_t table, char *out)
{
    const size_t length = strlen(d->prefix);
    memcpy(out, d->prefix, length);
    char *end = numbers_put_whole(out + length,
                                  d->number_of ? d->number_of[table] : d->first_table + table);
    *end = '\0';
    return (uint32_t)(end - out);
}
