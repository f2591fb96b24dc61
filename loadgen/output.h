/* Standard output that never blocks its writers: what the reader does not take is written later, in
 * whole lines. */
#ifndef SCALE_OUTPUT_H
#define SCALE_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a line without its line feed; from any thread. */
void output_put(const char *line, size_t length);

bool output_is_pending(void); /* the buffer has something */
bool output_is_behind(
    void); /* the buffer has so much that lines which may be missed should not be added */
void output_push(void); /* writes what the reader takes now */

/* Waits until everything is written; false: the reader took nothing for 5 s, and the rest is
 * lost. */
bool output_finish(void);

#endif
