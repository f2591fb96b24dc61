/* The rows of an answer in JSON: counted, and put into a digest where one is wanted. */
#ifndef SCALE_POSTS_ANSWER_H
#define SCALE_POSTS_ANSWER_H

#include "driver.h"

struct posts_answer {
    const char *rows; /* members of this name hold rows, each a list of values */
    /* A string of this name tells which column the rows behind it are of: those of other columns
     * than the first are no rows of their own. NULL: all are. */
    const char *column;
};

/* `text` ends with a zero byte. Returns the first quote of the member `error`, NULL when there is
 * none. Text that is something else has fewer rows. */
const char *posts_count(const struct posts_answer *form, const char *text, struct answer *answer);

/* Of a text in JSON: behind the string whose opening quote is at `at`. */
const char *posts_behind_string(const char *at);

#endif
