/* Times as text: the first digits stay the same for many rows, so they are kept. */
#ifndef SCALE_KEPT_TIME_H
#define SCALE_KEPT_TIME_H

#include "numbers.h"

struct kept_time { /* begins as {0} */
    int64_t base; /* a multiple of a million */
    char digits[16];
    uint32_t length; /* 0: none are kept */
};

static inline char *put_other_time(struct kept_time *kept, char *out, int64_t time)
{
    if (time < 1000000)
        return put_whole(out, time);
    kept->base = time - time % 1000000;
    kept->length = (uint32_t)(put_unsigned(kept->digits, (uint64_t)time / 1000000) - kept->digits);
    return put_whole(out, time);
}

static inline char *put_time(struct kept_time *kept, char *out, int64_t time)
{
    const uint64_t rest = (uint64_t)time - (uint64_t)kept->base;
    if (rest >= 1000000 || kept->length == 0)
        return put_other_time(kept, out, time);
    memcpy(out, kept->digits, sizeof kept->digits);
    out = put_triple(out + kept->length, (uint32_t)rest / 1000);
    return put_triple(out, (uint32_t)rest % 1000);
}

#endif
