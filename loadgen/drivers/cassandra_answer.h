/* The rows of an answer of Cassandra: counted, and put into a digest where one is wanted. */
#ifndef SCALE_CASSANDRA_ANSWER_H
#define SCALE_CASSANDRA_ANSWER_H

#include "cql_reader.h"
#include "driver.h"

enum { CASSANDRA_COLUMNS_MAX = 4096 };

struct cassandra_columns {
    uint32_t count;
    uint16_t types[CASSANDRA_COLUMNS_MAX]; /* of enum cql_type, or another one */
};

/* Reads this many rows. False: they are not what was announced. */
bool cassandra_take_rows(const struct cassandra_columns *columns, struct cql_reader *reader,
                         uint32_t rows, struct answer *answer);

#endif
