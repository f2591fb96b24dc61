/* See whole_file.h. */
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint8_t *whole_file(const char *path, uint64_t most, uint64_t *size, const char *key,
                    struct mistakes *mistakes)
{
    struct stat status;
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    uint8_t *bytes = NULL;
    ssize_t got = 1;
    *size = 0;
    if (file < 0 || fstat(file, &status) != 0) {
        mistake_add(mistakes, key, "%s: %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        mistake_add(mistakes, key, "%s: is not a file", path);
    } else {
        const uint64_t room =
            (uint64_t)status.st_size < most + 1 ? (uint64_t)status.st_size : most + 1;
        bytes = malloc(room + 1);
        while (bytes && *size < room && (got = read(file, bytes + *size, room - *size)) > 0)
            *size += (uint64_t)got;
        if (bytes)
            bytes[*size] = 0;
        if (!bytes || got < 0) {
            mistake_add(mistakes, key, "%s: %s", path, strerror(bytes ? errno : ENOMEM));
            free(bytes);
            bytes = NULL;
        }
    }
    if (file >= 0)
        close(file);
    return bytes;
}
