/* The marks in the text of an ask: `{device}`, `{from}`, `{to}`, `{until}` (the last moment before
 * `{to}`), `{at}` and `{value}` are drawn for each request; `{item}` is that of its turn (turns.h),
 * `{again}` the last `{device}`, `{part}` the partition's number of the next one, else the last;
 * `{{` and `}}` are braces. */
#ifndef SCALE_MARKS_H
#define SCALE_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mark {
    MARK_NONE,
    MARK_DEVICE,
    MARK_FROM,
    MARK_TO,
    MARK_AT,
    MARK_VALUE,
    MARK_ITEM,
    MARK_AGAIN,
    MARK_PART,
    MARK_UNTIL,
    MARK_COUNT
};

enum { PIECES_MAX = 512, PARAMETERS_MAX = 256 };

struct text_piece { /* plain text, then a mark */
    const char *plain;
    uint32_t length;
    enum mark mark; /* MARK_NONE: the next piece follows at once */
};

struct marks {
    uint32_t count, parameter_count; /* a parameter for each mark */
    struct text_piece pieces[PIECES_MAX];
};

/* Pieces point into the text. False, with the reason in `why`. */
bool marks_read(struct marks *marks, const char *text, char *why, size_t why_size);

uint32_t marks_count(const struct marks *marks, enum mark mark);

#endif
