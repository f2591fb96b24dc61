/* Creates subtables, many in one statement. The supertable is made by others. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../tags.h"
#include "tdengine_parts.h"

enum { STATEMENT_BYTES = 65536, TABLES_PER_STATEMENT = 500 };

uint32_t tdengine_using_bytes(const struct driver *d)
{
    return d->setup->schema->tag_count * (TAG_TEXT_MAX + 1) + 2 * TDENGINE_NAME_MAX + 32;
}

char *tdengine_put_using(const struct driver *d, uint32_t table, char *out)
{
    const struct schema *schema = d->setup->schema;
    out += sprintf(out, " USING `%s`.`%s` TAGS (", d->database, d->table);
    for (uint32_t i = 0; i < schema->tag_count; i++) {
        if (i)
            *out++ = ',';
        out += tag_literal(d->setup->spec, schema, i, table, out);
    }
    *out++ = ')';
    return out;
}

/* " IF NOT EXISTS d7 USING meters TAGS (...)" at out; returns its length, 0 when it has no room */
static uint32_t put_table(const struct driver *d, uint32_t table, char *out, uint32_t room)
{
    const struct schema *schema = d->setup->schema;
    char name[TABLE_NAME_MAX], tag[TAG_TEXT_MAX];
    tdengine_table_name(d, table, name);
    uint32_t used = (uint32_t)snprintf(out, room, " IF NOT EXISTS `%s`.`%s` USING `%s`.`%s` TAGS (",
                                       d->database, name, d->database, d->table);
    for (uint32_t i = 0; i < schema->tag_count && used < room; i++) {
        tag_literal(d->setup->spec, schema, i, table, tag);
        used += (uint32_t)snprintf(out + used, room - used, "%s%s", i ? "," : "", tag);
    }
    if (used + 2 >= room)
        return 0;
    out[used++] = ')';
    return used;
}

enum outcome tdengine_create_tables(struct connection *c, uint32_t first, uint32_t count,
                                    struct fault *fault)
{
    static const char head[] = "CREATE TABLE";
    const uint32_t end = first + count;
    enum outcome outcome = OUTCOME_OK;
    memcpy(c->text, head, sizeof head - 1);
    for (uint32_t table = first; table < end && outcome == OUTCOME_OK;) {
        uint32_t used = sizeof head - 1;
        for (uint32_t n = 0; table < end && n < TABLES_PER_STATEMENT; n++, table++) {
            const uint32_t more = put_table(c->driver, table, c->text + used, SQL_BYTES_MAX - used);
            if (more == 0 || used + more > STATEMENT_BYTES) {
                if (n == 0 && more == 0) {
                    fault_set(fault, FAULT_SPEC, "TAGS", "tags: the statement grows too long");
                    return OUTCOME_FATAL;
                }
                if (n > 0)
                    break;
            }
            used += more;
        }
        c->text[used] = '\0';
        outcome = tdengine_run(c, c->text, NULL, fault);
    }
    return outcome;
}
