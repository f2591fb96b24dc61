/* Compression of each body before it is posted. */
#ifndef SCALE_PACKING_H
#define SCALE_PACKING_H

#include <stddef.h>

#include "fault.h"

struct packer; /* state of one connection; each kind defines its own */

struct packing {
    /* NULL with a fault. */
    struct packer *(*make)(struct fault *fault);
    void (*drop)(struct packer *packer); /* takes NULL */
    /* Valid until the next call; NULL: out of memory. */
    const char *(*pack)(struct packer *packer, const char *text, size_t length, size_t *packed);
};

/* Need libraries of the machine, which `make` opens. */
extern const struct packing packing_gzip;   /* zlib's fastest level */
extern const struct packing packing_snappy; /* libsnappy: snappy's block format */

#endif
