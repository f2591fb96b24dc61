/* See held.h. */
#include "held.h"

#include <ctype.h>
#include <stdlib.h>

/* Moves `*text` behind the time; false: it is none. */
static bool read_time(const char **text, double *start_s, double *end_s)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    *start_s = strtod(*text, &end);
    if (*end != '-' || !isdigit((unsigned char)end[1]))
        return false;
    *end_s = strtod(end + 1, &end);
    *text = *end == ',' ? end + 1 : end;
    return *end == ',' || *end == '\0';
}

void held_check(const struct spec *spec, struct mistakes *mistakes)
{
    const char *text = spec->held_s;
    double start_s = 0, end_s = 0, before_s = 0;
    if (!spec->held && !text)
        return;
    if (!spec->held || !text || spec->held >= spec->workers_total) {
        mistake_add(mistakes, "held", "needs held_s, and a worker that is not held");
        return;
    }
    do {
        if (!read_time(&text, &start_s, &end_s) || start_s < before_s || end_s <= start_s) {
            mistake_add(mistakes, "held_s", "'%.40s' is not START-END,... in seconds",
                        spec->held_s);
            return;
        }
        before_s = end_s;
    } while (*text || text[-1] == ',');
}

uint64_t held_until_ns(const struct spec *spec, uint32_t number, uint64_t in_window_ns)
{
    const char *text = spec->held_s;
    double start_s, end_s;
    if (number + spec->held < spec->workers_total)
        return 0;
    while (*text && read_time(&text, &start_s, &end_s) && (double)in_window_ns >= start_s * 1e9)
        if ((double)in_window_ns < end_s * 1e9)
            return (uint64_t)(end_s * 1e9);
    return 0;
}
