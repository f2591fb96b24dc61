/* Cuts the slices of a batch into pieces that are made together: some hundreds of rows, of one
 * long slice or of many short ones. It makes no values. */
#ifndef SCALE_PIECES_H
#define SCALE_PIECES_H

#include "values.h"

/* Cuts pieces off the slices until there are rows enough, into the maker's pieces or, where walks
 * are kept for rows of their own, into its runs; returns the number of pieces and sets *rows.
 * `*slice` and `*done` say where the slices go on. */
uint32_t pieces_take(struct maker *maker, const struct batch *batch, uint32_t *slice,
                     uint32_t *done, uint32_t *rows);

#endif
