/* Texts of queries, with placeholders or with their parameters. */
#ifndef SCALE_ASK_TEXT_H
#define SCALE_ASK_TEXT_H

#include "driver.h"

/* With ? for each mark, or $1, $2, ...; the caller frees it. NULL: out of memory. */
char *ask_statement(const struct marks *marks, bool is_numbered);

/* A time in units of the precision, or a number. */
char *ask_put_value(char *out, const struct parameter *parameter);

/* Returns a pointer to the zero byte behind the text. */
char *ask_fill(char *out, const struct marks *marks, const struct parameter *parameters,
               const struct driver *driver,
               size_t (*table_name)(const struct driver *, uint32_t, char *));

#endif
