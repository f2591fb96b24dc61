/* See spec.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "spec.h"

char *spec_load_text(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    size_t used = 0, size = 65536;
    char *text = malloc(size);
    if (!file || !text) {
        fprintf(stderr, "scale-loadgen: cannot read '%s': %s\n", path, strerror(errno));
        free(text);
        if (file && file != stdin)
            fclose(file);
        return NULL;
    }
    for (;;) {
        used += fread(text + used, 1, size - used - 1, file);
        if (used + 1 < size)
            break;
        char *larger = realloc(text, size *= 2);
        if (!larger)
            abort();
        text = larger;
    }
    text[used] = '\0';
    if (file != stdin)
        fclose(file);
    return text;
}
