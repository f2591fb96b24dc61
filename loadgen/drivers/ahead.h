/* Reads the numbers of some rows ahead, by column. */
#ifndef SCALE_AHEAD_H
#define SCALE_AHEAD_H

#include "../batch.h"
#include "numbers.h"

enum { AHEAD_ROWS = 64, AHEAD_COLUMNS = 64 }; /* columns beyond are not read ahead */

enum ahead_form {
    AHEAD_NOT,        /* values are written one by one */
    AHEAD_THOUSANDTHS, /* 0 .. 999999 thousandths */
    AHEAD_WHOLE
};

struct ahead {
    uint32_t first, end;          /* rows of the batch that are read */
    uint32_t count;               /* number of columns */
    uint8_t forms[AHEAD_COLUMNS]; /* values of enum ahead_form */
    uint32_t numbers[AHEAD_COLUMNS][AHEAD_ROWS];
};

void read_ahead(struct ahead *ahead, const struct batch *batch);

static inline char *put_ahead(char *out, enum ahead_form form, uint32_t number)
{
    if (form == AHEAD_WHOLE)
        return number < 1000 ? put_below_1000(out, number) : put_unsigned(out, number);
    const char *const triple = numbers_triples + 4 * (number % 1000);
    out = put_below_1000(out, number / 1000);
    *out = '.';
    memcpy(out + 1, triple, 4);
    return out + triple[3];
}

#endif
