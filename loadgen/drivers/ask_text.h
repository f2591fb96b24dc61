/* Texts of queries: with placeholders for a prepared statement, or with their parameters. */
#ifndef SCALE_ASK_TEXT_H
#define SCALE_ASK_TEXT_H

#include "driver.h"

/* The text with ? for each mark, or with $1, $2, ...; the caller frees it. NULL: out of memory. */
char *ask_statement(const struct marks *marks, bool is_numbered);

/* Writes a time in units of the precision, or a number. */
char *ask_put_value(char *out, const struct parameter *parameter);

/* Writes the text with its parameters and a zero byte, to which it returns a pointer. */
char *ask_fill(char *out, const struct marks *marks, const struct parameter *parameters,
               const struct driver *driver,
               size_t (*table_name)(const struct driver *, uint32_t, char *));

#endif
