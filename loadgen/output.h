/* Standard output that never blocks: what the reader does not take is written later, in whole
 * lines. */
#ifndef SCALE_OUTPUT_H
#define SCALE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Without its line feed; from any thread. */
void output_put(const char *line, size_t length);

bool output_is_pending(void); /* the buffer has something */
bool output_is_behind(void); /* lines which may be missed should not be added */
void output_push(void); /* writes what the reader takes now */

/* False: the reader took nothing for 5 s, and the rest is lost. */
bool output_finish(void);

#endif
