/* The answer of IoTDB to a statement: its status, and rows that come column by column. */
#ifndef SCALE_IOTDB_ANSWER_H
#define SCALE_IOTDB_ANSWER_H

#include "iotdb_parts.h"

/* Asks the statement and tells the sink the rows of its answer, page by page. */
enum outcome iotdb_tell_answer(struct connection *connection, const struct iotdb_statement *asked,
                               const struct result_sink *sink, struct fault *fault);

#endif
