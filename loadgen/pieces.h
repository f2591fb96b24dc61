/* Cuts slices into pieces of some hundreds of rows, of one long slice or many short ones. */
#ifndef SCALE_PIECES_H
#define SCALE_PIECES_H

#include "values.h"

/* Until there are rows enough, or runs where walks are kept; returns the number of pieces.
 * `*slice`, `*done`: where the slices go on. */
uint32_t pieces_take(struct maker *maker, const struct batch *batch, uint32_t *slice,
                     uint32_t *done, uint32_t *rows);

#endif
