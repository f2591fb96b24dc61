/* The answer of IoTDB to a statement: its status, and rows that come column by column. */
#ifndef SCALE_IOTDB_ANSWER_H
#define SCALE_IOTDB_ANSWER_H

#include "iotdb_session.h"

/* Reads the answer to the executeStatement of this number and tells its rows to the sink. An answer
 * with more rows than were asked for is an error. */
enum outcome iotdb_take_answer(struct iotdb_session *session, uint32_t number,
                               const struct result_sink *sink, struct fault *fault);

#endif
