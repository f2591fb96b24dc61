/* Text compressed as gzip by the zlib of the machine, opened when it is asked for. One packer for
 * each connection; every text becomes a whole gzip file of its own. */
#ifndef SCALE_GZIP_H
#define SCALE_GZIP_H

#include "driver.h"

struct gzip;

/* NULL after saying in `fault` what is missing. */
struct gzip *gzip_new(struct fault *fault);
void gzip_free(struct gzip *gzip);

/* The compressed text, good until the next call; NULL where memory is short. */
const char *gzip_pack(struct gzip *gzip, const char *text, size_t length, size_t *packed);

#endif
