/* The query part of the TDengine driver, and the raw blocks of columns that answers come in. */
#ifndef SCALE_TDENGINE_ASK_H
#define SCALE_TDENGINE_ASK_H

#include "tdengine_parts.h"

/* As the driver door has them. */
enum outcome tdengine_check_ask(const struct driver *driver, const struct marks *marks,
                                const char *text, struct fault *fault);
enum outcome tdengine_prepare(struct connection *connection, uint32_t operation, const char *text,
                              struct fault *fault);
enum outcome tdengine_ask(struct connection *connection, uint32_t operation,
                          const struct parameter *parameters, uint64_t deadline_ns,
                          struct answer *answer, struct fault *fault);
void tdengine_free_asks(struct connection *connection);

/* Bytes of a block, as it says itself. */
uint32_t raw_block_bytes(const void *block);

/* The time in the last row of a block whose first column is a time, in ns since 1970; *ns stays for
 * another block. */
void raw_block_last_time(const void *block, int64_t ns_per_unit, int64_t *ns);

/* Adds the values of a block, row by row, to the digest, and puts them into the sink, if there is
 * one; `ns_per_unit` of its timestamps. False when the block is not what it should be. */
bool raw_block_take(const void *block, int64_t ns_per_unit, uint64_t *digest,
                    const struct result_sink *sink);

#endif
