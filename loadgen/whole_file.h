/* Reads a file that a spec names, at once. Refuses what is not a regular file, and more bytes
 * than are wanted. */
#ifndef SCALE_WHOLE_FILE_H
#define SCALE_WHOLE_FILE_H

#include <stdint.h>

#include "mistakes.h"

/* Returns the bytes with a zero byte behind them; NULL after reporting why under `key`. Reads at
 * most `most` + 1 bytes, so that a longer file has another size. */
uint8_t *whole_file(const char *path, uint64_t most, uint64_t *size, const char *key,
                    struct mistakes *mistakes);

#endif
