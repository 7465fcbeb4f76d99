/* Solves the heat equation by Jacobi iteration with halo exchange, protected through the C API. Its twins heat2d.cpp
 * and heat2d.f90 compute the same numerics in the same order, so their final bits are equal. The variant heat2d_track.c
 * has no checkpoints of its own. The plate is stored as a whole, so a run may resume on another number of ranks and end
 * with the same bits. */
#include <mpi.h>
#include <stdio.h>

#include "perdure/perdure_mpi.h"
#include "plate.h"

/** The two arrays alternate as the state, so the current one is protected anew each time. */
static void protect(plate* p, perdure_t* handle) {
  plate_part part;
  plate_describe(p, p->now, "temperature", &part);
  const perdure_array step = {.name = "step", .type = "i8", .description = "iterations done"};
  app_require(p->app, handle, perdure_protect_global(handle, 0, &part.array, &part.rows, part.boxes), "cannot protect");
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
  plate p = plate_make(app);
  perdure_t* handle = app_checkpoints(app) ? open_and_restore(&p) : NULL;
  while (p.step < steps) {
    app_step(app, (long)p.step, steps);
    plate_advance(&p);
    plate_swap(&p);
    if (app_checkpoint_due(app, (long)p.step)) checkpoint(&p, handle);
  }
  plate_hash(&p);
  app_end(app, handle);
  if (handle != NULL) perdure_close(&handle);
  plate_free(&p);
  MPI_Finalize();
  return 0;
}
