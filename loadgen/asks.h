/* Queries by the keys `ask.NAME.*`. A draw is a pure function of (read_seed, operation's name,
 * worker, request). */
#ifndef SCALE_ASKS_H
#define SCALE_ASKS_H

#include "drivers/driver.h"
#include "marks.h"

enum nothing { /* which answers are empty */
               NOTHING_NO_ROW,
               NOTHING_NULL, /* also one row of NULL alone: an aggregate of no rows */
               NOTHING_ZERO /* also one row of 0 alone: a count of no rows */
};

struct ask {
    const char *text; /* with its marks */
    const char *before; /* statement before each request, outside its time */
    const char *result; /* file for its answers; NULL: only counted */
    enum nothing nothing;
    struct marks marks;
    uint64_t stream; /* hash of the operation's name */
    int64_t first, step; /* units of the precision: `from` is first + n * step, n < choices */
    uint64_t choices;
    int64_t span;
    bool follows; /* ends with the newest row that the worker has made */
    double value_low, value_high, value_step; /* step 0: any value between the two */
};

struct drawn { /* one request's; points into itself, so it must not move */
    uint32_t device_count;
    uint32_t devices[PARAMETERS_MAX];
    int64_t from, to, until; /* `at` is `from` */
    double value; /* has no more digits than a float */
    struct parameter parameters[PARAMETERS_MAX];
};

/* NULL, with a mistake, if a key is wrong. */
struct ask *ask_read(const struct spec *spec, const char *name, struct mistakes *mistakes);

/* Needs the digest for an aggregate. */
bool ask_is_empty(const struct ask *ask, const struct answer *answer);

/* Its random numbers are chance_of(hash, n). */
uint64_t ask_hash(const struct spec *spec, uint32_t worker, uint64_t request);
void ask_draw(const struct ask *ask, const struct spec *spec, uint64_t request_hash,
              struct drawn *drawn);

#endif
