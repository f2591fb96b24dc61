/* Of each float of standard input the double of doubles_read and the text of numbers.h, one pair in
 * a line. */
#include <stdio.h>
#include <stdlib.h>

#include "drivers/doubles.h"
#include "drivers/numbers.h"

enum { AT_ONCE = 61 };

int main(void)
{
    float values[AT_ONCE];
    double doubles[AT_ONCE];
    char text[NUMBER_BYTES + 1];
    for (size_t n; (n = fread(values, sizeof *values, AT_ONCE, stdin)) > 0;) {
        doubles_read(doubles, TYPE_FLOAT, values, 0, (uint32_t)n);
        for (size_t i = 0; i < n; i++) {
            *put_float(text, values[i]) = '\0';
            printf("%a %s\n", doubles[i], text);
        }
    }
    return 0;
}
