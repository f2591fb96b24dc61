/* The reader of answers' bodies; see cql_reader.h. */
#include "cql_reader.h"

enum { GLOBAL_TABLE = 1, HAS_MORE_PAGES = 2, NO_METADATA = 4, DEPTH_MAX = 8 };
enum { CUSTOM = 0x00, LIST = 0x20, MAP = 0x21, SET = 0x22, USER_TYPE = 0x30, TUPLE = 0x31 };

const uint8_t *cql_read_bytes(struct cql_reader *r, size_t count)
{
    const uint8_t *const found = r->at;
    if ((size_t)(r->end - r->at) < count) {
        r->is_short = true;
        r->at = r->end;
        return NULL;
    }
    r->at += count;
    return found;
}

static uint64_t read_number(struct cql_reader *r, size_t bytes)
{
    const uint8_t *at = cql_read_bytes(r, bytes);
    uint64_t value = 0;
    for (size_t i = 0; at && i < bytes; i++)
        value = value << 8 | at[i];
    return value;
}

uint32_t cql_read16(struct cql_reader *r)
{
    return (uint32_t)read_number(r, 2);
}

uint32_t cql_read32(struct cql_reader *r)
{
    return (uint32_t)read_number(r, 4);
}

uint64_t cql_read64(struct cql_reader *r)
{
    return read_number(r, 8);
}

void cql_skip_string(struct cql_reader *r)
{
    cql_read_bytes(r, cql_read16(r));
}

static uint16_t read_type(struct cql_reader *r, uint32_t depth)
{
    const uint16_t type = (uint16_t)cql_read16(r);
    uint32_t inside = type == MAP ? 2 : type == LIST || type == SET ? 1 : 0;
    if (depth == 0)
        r->is_short = true;
    if (type == CUSTOM || type == USER_TYPE)
        cql_skip_string(r);
    if (type == USER_TYPE)
        cql_skip_string(r);
    if (type == USER_TYPE || type == TUPLE)
        inside = cql_read16(r);
    for (; inside > 0 && !r->is_short; inside--) {
        if (type == USER_TYPE)
            cql_skip_string(r);
        read_type(r, depth - 1);
    }
    return type;
}

uint16_t cql_read_type(struct cql_reader *r)
{
    return read_type(r, DEPTH_MAX);
}

struct cql_metadata cql_read_metadata(struct cql_reader *r, bool is_of_parameters, bool *are_named)
{
    const uint32_t flags = cql_read32(r);
    struct cql_metadata found = {.count = cql_read32(r), .has_types = !(flags & NO_METADATA)};
    *are_named = !(flags & GLOBAL_TABLE);
    if (is_of_parameters)
        cql_read_bytes(r, (size_t)2 * cql_read32(r)); /* those that are the partition's key */
    else if (flags & HAS_MORE_PAGES) {
        found.position_length = cql_read32(r);
        found.position = cql_read_bytes(r, found.position_length);
    }
    if (!*are_named && found.has_types && found.count > 0) {
        cql_skip_string(r);
        cql_skip_string(r);
    }
    return found;
}

uint16_t cql_read_column(struct cql_reader *r, bool are_named)
{
    if (are_named) {
        cql_skip_string(r);
        cql_skip_string(r);
    }
    cql_skip_string(r);
    return cql_read_type(r);
}
