/* The content of an answer in PostgreSQL's binary form, for a sink. Of a type that it does not know
 * it hands over the bytes as a text. */
#ifndef SCALE_POSTGRES_CONTENT_H
#define SCALE_POSTGRES_CONTENT_H

#include "postgres.h"

void postgres_hand_rows(const struct libpq *libpq, const PGresult *result,
                        const struct result_sink *sink);

#endif
