/* Standard output that never makes its writers wait: what the reader does not take at once is kept
 * and handed over later. Whole lines, in the order in which they were put. It knows no event. */
#ifndef SCALE_OUTPUT_H
#define SCALE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* A line without its line feed; from any thread. */
void output_put(const char *line, size_t length);

bool output_is_pending(void); /* something is kept */
bool output_is_behind(void);  /* so much is kept that what can be missed should not be put */
void output_push(void);       /* hands over what the reader takes now */

/* Waits until all is handed over; false when the reader took nothing for 5 s: the rest is lost. */
bool output_finish(void);

#endif
