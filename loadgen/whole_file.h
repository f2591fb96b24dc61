/* A file that a spec names, read at once. Refuses what is not a regular file, and more bytes than
 * are wanted of it. */
#ifndef SCALE_WHOLE_FILE_H
#define SCALE_WHOLE_FILE_H

#include <stdint.h>

#include "mistakes.h"

/* The bytes and, behind them, a zero; NULL after telling under `key` why. At most `most` + 1 bytes
 * are read, so that a longer file has another size. */
uint8_t *whole_file(const char *path, uint64_t most, uint64_t *size, const char *key,
                    struct mistakes *mistakes);

#endif
