/* Implements a plate of height x width cells in a frame of fixed ones, whose rows are divided among ranks in blocks.
 * The row above the first (the upper edge) is at 1, the rest of the frame at 0. Every rank has one more row on either
 * side: its neighbours' or the frame. Each cell is computed from the same cells whatever the number of ranks. */
#ifndef PERDURE_APPS_HEAT2D_PLATE_H
#define PERDURE_APPS_HEAT2D_PLATE_H

#include <stdint.h>

#include "app.h"

typedef struct plate {
  app_t* app;
  long rows, width;   /* of this rank, without halo and frame */
  long first, height; /* this rank's first row in the plate; rows of the plate */
  int above, below;   /* neighbours, or MPI_PROC_NULL */
  double *now, *next;
  int64_t step;
} plate;

/** Makes a plate as the application's input says. Ends the job if there is no memory. [collective] */
plate plate_make(app_t* app);
void plate_free(plate* p);
/** Fetches the neighbours' rows, and computes `next` from `now`. [collective] */
void plate_advance(plate* p);
/** Exchanges `now` and `next`. */
void plate_swap(plate* p);
/** Adds the current cells of all ranks to the hash. [collective] */
void plate_hash(const plate* p);

/** This rank's rows as a part of the plate, for Perdure. Halo and frame lie between them in memory, and are no data. */
typedef struct plate_part {
  perdure_array array;
  perdure_box rows;
  size_t boxes; /* 1, or 0 if this rank has no rows */
  uint64_t extents[2], begin[2], end[2];
  int64_t strides[2];
} plate_part;
/** Describes the memory `cells`, which is `now` or `next`. The part must not be copied. */
void plate_describe(const plate* p, double* cells, const char* name, plate_part* part);

#endif
