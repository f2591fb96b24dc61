/* Subscriptions of TDengine, the method `tmq`: a connection is a consumer of libtaos, the text of
 * its one operation names its topics, and to ask is to wait for the next message. */
#ifndef SCALE_TDENGINE_TOPICS_H
#define SCALE_TDENGINE_TOPICS_H

#include "tdengine_parts.h"

/* The functions of libtaos that only consumers need. */
/* Reads the options of the method; refuses what it cannot do. */
enum outcome topics_open(struct driver *driver, struct fault *fault);
enum outcome topics_load_library(struct driver *driver, struct fault *fault);
void topics_free_library(struct driver *driver);

enum outcome topics_connect(struct connection *connection, uint32_t worker, struct fault *fault);
void topics_disconnect(struct connection *connection);

/* Subscribes to the topics in `text`, with commas between them. */
enum outcome topics_prepare(struct connection *connection, const char *text, struct fault *fault);

/* The next message: its rows are counted, or told to the answer's sink. Ends when none came within
 * `poll_ms`, or when more than `expect_rows` rows have come; is quiet after a part of that time. */
enum outcome topics_ask(struct connection *connection, struct answer *answer, struct fault *fault);

#endif
