/* Reads a regular file that a spec names. */
#ifndef SCALE_WHOLE_FILE_H
#define SCALE_WHOLE_FILE_H

#include <stdint.h>

#include "mistakes.h"

/* With a zero byte behind; NULL after reporting why under `key`. Reads at most `most` + 1 bytes,
 * which show a longer file. */
uint8_t *whole_file(const char *path, uint64_t most, uint64_t *size, const char *key,
                    struct mistakes *mistakes);

#endif
