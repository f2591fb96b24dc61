/* Which answers are checked, that is passed on with their content: a random sample of about
 * `check_per_s` of each operation. Ten times a second the chance follows the rate. Before the first
 * answer each content is kept, and drawn when its answer tells the rate. */
#ifndef SCALE_CHECKS_H
#define SCALE_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "drivers/driver.h"

struct load;
struct worker;

enum check {
    CHECK_NOT,
    CHECK_CHOSEN,
    CHECK_PERHAPS /* drawn when it is answered */
};

struct check_plan { /* state of one operation, shared by workers */
    _Atomic uint64_t chance; /* part of UINT64_MAX; 0: not known yet */
    _Atomic uint64_t look_ns; /* when it is made again; UINT64_MAX: a worker makes it */
    uint64_t origin_ns, origin_checked; /* start of the load or of its window */
    uint64_t seen_ns, seen_requests;
    double per_s; /* rate of the last seconds */
};

enum check checks_draw(struct worker *worker, uint64_t now_ns);

/* Draws when the answer came after so long. */
bool checks_draw_late(struct worker *worker, uint64_t took_ns);

#endif
