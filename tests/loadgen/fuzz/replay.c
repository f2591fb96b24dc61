/* Runs files of the corpus, without libFuzzer: replay HARNESS FILE... Prints the number of the
 * runs; a sanitizer ends it at what it finds. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static void replay(const char *name, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(2);
    }
    const size_t size = (size_t)ftell(file);
    uint8_t *bytes = malloc(size ? size : 1); /* exact, for the sanitizers */
    rewind(file);
    if (!bytes || fread(bytes, 1, size, file) != size || !fuzz_run(name, bytes, size)) {
        fprintf(stderr, "replay: %s %s: no such harness, or the file cannot be read\n", name, path);
        exit(2);
    }
    free(bytes);
    fclose(file);
}

int main(int argc, char **argv)
{
    for (int i = 2; i < argc; i++)
        replay(argv[1], argv[i]);
    printf("%d\n", argc - 2);
    return 0;
}
