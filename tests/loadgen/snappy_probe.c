/* Compresses texts by packing_snappy: reads each as its length (4 bytes) and so many bytes, writes
 * each the same way. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "drivers/packing.h"

int main(void)
{
    struct fault fault;
    struct packer *packer = packing_snappy.make(&fault);
    if (!packer) {
        fprintf(stderr, "%s\n", fault.message);
        return 1;
    }
    for (uint32_t length; fread(&length, sizeof length, 1, stdin) == 1;) {
        size_t packed;
        char *text = malloc(length ? length : 1); /* exact, for the sanitizers */
        if (fread(text, 1, length, stdin) != length)
            return 1;
        const char *out = packing_snappy.pack(packer, text, length, &packed);
        const uint32_t written = (uint32_t)packed;
        fwrite(&written, sizeof written, 1, stdout);
        fwrite(out, 1, packed, stdout);
        free(text);
    }
    packing_snappy.drop(packer);
    return 0;
}
