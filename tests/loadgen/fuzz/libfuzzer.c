/* The entry of libFuzzer; the environment variable SCALE_FUZZ names the harness. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static const char *name;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    name = getenv("SCALE_FUZZ");
    if (name && fuzz_run(name, (const uint8_t *)"", 0))
        return 0;
    fprintf(stderr, "SCALE_FUZZ names no harness; one of:");
    for (const struct harness *h = fuzz_harnesses; h->name; h++)
        fprintf(stderr, " %s", h->name);
    fputc('\n', stderr);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_run(name, bytes, size);
    return 0;
}
