/* How a body is compressed before it is posted. A driver's form names one of these; every body is
 * compressed by itself. It knows nothing of what it compresses. */
#ifndef SCALE_PACKING_H
#define SCALE_PACKING_H

#include <stddef.h>

#include "fault.h"

struct packer; /* state of one connection between two bodies; each kind defines its own */

struct packing {
    /* NULL after saying in `fault` what is missing. */
    struct packer *(*make)(struct fault *fault);
    void (*drop)(struct packer *packer); /* takes NULL */
    /* The compressed text, good until the next call; NULL where memory is short. */
    const char *(*pack)(struct packer *packer, const char *text, size_t length, size_t *packed);
};

/* By libraries of the machine, which `make` opens. */
extern const struct packing packing_gzip;   /* zlib's fastest level */
extern const struct packing packing_snappy; /* libsnappy: snappy's block format */

#endif
