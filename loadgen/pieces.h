/* Cuts the slices of a batch into pieces of some hundreds of rows, of one long slice or of many
 * short ones. */
#ifndef SCALE_PIECES_H
#define SCALE_PIECES_H

#include "values.h"

/* Cuts pieces off the slices until there are rows enough, or runs where walks are kept; returns
 * their number and sets *rows. `*slice` and `*done`: where the slices go on. */
uint32_t pieces_take(struct maker *maker, const struct batch *batch, uint32_t *slice,
                     uint32_t *done, uint32_t *rows);

#endif
