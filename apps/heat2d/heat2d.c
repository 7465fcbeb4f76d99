/* Jacobi heat solver with halo exchange, protected through the C API. heat2d.cpp and heat2d.f90 are its twins: the same
 * numerics in the same order, so the same final bits.
 *
 * The plate has height x width cells in a frame of fixed ones; rows are shared out in blocks. The row above the first
 * (the upper edge) is at 1, the rest of the frame at 0. Every rank has one more row on either side: its neighbours' or
 * the frame. Each cell is computed from the same cells whatever the number of ranks, and stored as a part of the whole
 * plate: a run may go on with another number of ranks, and ends with the same bits. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "app.h"
#include "perdure/perdure_mpi.h"

typedef struct plate {
  app_t* app;
  long rows, width;   /* of this rank, without halo and frame */
  long first, height; /* this rank's first row in the plate; rows of the plate */
  int above, below;   /* neighbours, or MPI_PROC_NULL */
  double *now, *next;
  int64_t step;
} plate;

static size_t cells(const plate* p) { return (size_t)(p->rows + 2) * (size_t)(p->width + 2); }

static plate make_plate(app_t* app) {
  plate p;
  const int rank = app_rank(app), ranks = app_ranks(app);
  p.app = app;
  p.width = app_integer(app, "width", 256);
  p.height = app_integer(app, "height", 256);
  p.rows = app_share(p.height, ranks, rank);
  p.first = app_first(p.height, ranks, rank);
  p.above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  p.below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  p.step = 0;
  p.now = calloc(cells(&p), sizeof(double));
  p.next = calloc(cells(&p), sizeof(double));
  if (p.now == NULL || p.next == NULL) app_require(app, NULL, PERDURE_NO_SPACE, "no memory for the plate");
  if (rank == 0) {
    for (long j = 0; j < p.width + 2; ++j) p.now[j] = p.next[j] = 1.0;
  }
  return p;
}

static void exchange_halo(plate* p) {
  const long line = p->width + 2;
  double* first = p->now + line;
  double* last = p->now + p->rows * line;
  const int count = (int)line;
  MPI_Sendrecv(first, count, MPI_DOUBLE, p->above, 1, last + line, count, MPI_DOUBLE, p->below, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Sendrecv(last, count, MPI_DOUBLE, p->below, 2, p->now, count, MPI_DOUBLE, p->above, 2, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
}

static void advance(plate* p) {
  const long line = p->width + 2;
  exchange_halo(p);
  for (long i = 1; i <= p->rows; ++i) {
    const double* row = p->now + i * line;
    double* out = p->next + i * line;
    for (long j = 1; j <= p->width; ++j) {
      out[j] = 0.25 * ((row[j - line] + row[j + line]) + (row[j - 1] + row[j + 1]));
    }
  }
  double* swap = p->now;
  p->now = p->next;
  p->next = swap;
  ++p->step;
}

/** The rows of this rank as a part of the plate. Halo and frame lie between them in memory, and are not stored. */
static perdure_status protect_cells(plate* p, perdure_t* handle) {
  const long line = p->width + 2;
  const uint64_t extents[2] = {(uint64_t)p->height, (uint64_t)p->width};
  const uint64_t begin[2] = {(uint64_t)p->first, 0};
  const uint64_t end[2] = {(uint64_t)(p->first + p->rows), (uint64_t)p->width};
  const int64_t strides[2] = {line * (long)sizeof(double), sizeof(double)};
  const perdure_array temperature = {.name = "temperature",
                                     .type = "f8",
                                     .dimensions = 2,
                                     .extents = extents,
                                     .unit = "1",
                                     .description = "of the plate, without its frame; the upper edge is at 1"};
  const perdure_box rows = {p->now + line + 1, begin, end, strides};
  return perdure_protect_global(handle, 0, &temperature, &rows, p->rows > 0 && p->width > 0 ? 1 : 0);
}

/** Both arrays take turns in being the state: the one of the moment is protected anew each time. */
static void protect(plate* p, perdure_t* handle) {
  const perdure_array step = {.name = "step", .type = "i8", .description = "iterations done"};
  app_require(p->app, handle, protect_cells(p, handle), "cannot protect");
  app_require(p->app, handle, perdure_protect_replicated(handle, 1, &step, &p->step), "cannot protect");
}

static perdure_t* open_and_restore(plate* p) {
  perdure_t* handle = NULL;
  char message[1024] = "";
  const perdure_status status = perdure_open_mpi(MPI_COMM_WORLD, NULL, &handle, message, sizeof message);
  app_require(p->app, handle, status, message);
  protect(p, handle);
  app_restored(p->app, handle, perdure_restore(handle, "heat2d", PERDURE_LATEST));
  return handle;
}

static void checkpoint(plate* p, perdure_t* handle) {
  const double begin = MPI_Wtime();
  protect(p, handle);
  const perdure_status status = perdure_checkpoint(handle, "heat2d", p->step);
  app_checkpointed(p->app, handle, status, (long)p->step, MPI_Wtime() - begin);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  app_t* app = app_begin("heat2d", argc, argv);
  const long steps = app_integer(app, "steps", 100);
  plate p = make_plate(app);
  perdure_t* handle = app_checkpoints(app) ? open_and_restore(&p) : NULL;
  while (p.step < steps) {
    app_step(app, (long)p.step, steps);
    advance(&p);
    if (app_checkpoint_due(app, (long)p.step)) checkpoint(&p, handle);
  }
  app_hash(app, p.now + p.width + 2, (size_t)p.rows * (size_t)(p.width + 2) * sizeof(double));
  app_end(app, handle);
  if (handle != NULL) perdure_close(&handle);
  free(p.now);
  free(p.next);
  MPI_Finalize();
  return 0;
}
