/* Rows in the three forms that PostgreSQL takes. */
#ifndef SCALE_POSTGRES_ROWS_H
#define SCALE_POSTGRES_ROWS_H

#include "postgres_libpq.h"

/* COPY BINARY in pieces of the connection's buffer, with room for a header or frame before and the
 * end behind. */
enum {
    POSTGRES_BUFFER_BYTES = 65536, /* space for rows */
    POSTGRES_ROWS_PLACE = 64,
    POSTGRES_BUFFER_SPACE = POSTGRES_ROWS_PLACE + POSTGRES_BUFFER_BYTES + 64
};

/* Overwritten bytes before a piece. */
enum { POSTGRES_FRAME_BYTES = 5 };

uint64_t postgres_row_bytes(const struct schema *schema, uint32_t first, uint32_t count);
bool postgres_send_rows(struct connection *connection, const struct batch *batch);

enum outcome postgres_open_insert(struct driver *driver, struct fault *fault);
enum outcome postgres_send_insert(struct connection *connection, const struct batch *batch,
                                  uint64_t deadline_ns, uint64_t *rows_acked, struct fault *fault);
void postgres_free_arrays(struct connection *connection);

/* Upserts the rows of a request from a temporary table, which `create_stage` makes once. */
enum outcome postgres_open_staged(struct driver *driver, struct fault *fault);
enum outcome postgres_create_stage(struct connection *connection, struct fault *fault);

/* A device and time may come twice, so that the server counts fewer rows. */
bool postgres_may_repeat(const struct spec *spec);

enum outcome postgres_open_json(struct driver *driver, struct fault *fault);
uint64_t postgres_json_row_bytes(const struct schema *schema, uint32_t first, uint32_t count);

/* All columns, or those that the spec names. */
static inline uint32_t postgres_first_column(const struct driver *driver)
{
    return (uint32_t)driver->setup->spec->partial_from;
}

static inline uint32_t postgres_column_count(const struct driver *driver)
{
    return spec_column_count(driver->setup->spec, driver->setup->schema->column_count);
}

#endif
