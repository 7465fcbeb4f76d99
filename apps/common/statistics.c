/* Reports an application's run and its checkpoints. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_state.h"

/** The figures of a run, over all ranks; valid on rank 0. */
typedef struct figures {
  double blocking_median_s, blocking_max_s, flush_s, restore_s;
  uint64_t bytes; /* of the last checkpoint, or of the restored one if there was none since */
} figures;

int app_checkpoints(const app_t* app) { return !app->without_checkpoints && app->checkpoint_every > 0; }
int app_checkpoint_due(const app_t* app, long step) {
  return app_checkpoints(app) && step > 0 && step % app->checkpoint_every == 0;
}

void app_step(app_t* app, long step, long steps) {
  app_demo_maybe_die(app, step);
  if (app->rank != 0 || app->report_every <= 0 || step % app->report_every != 0) return;
  printf("step %ld of %ld\n", step, steps);
  fflush(stdout);
}

void app_require(app_t* app, perdure_t* handle, perdure_status status, const char* what) {
  if (status == PERDURE_OK) return;
  const char* text = handle == NULL ? "" : perdure_error_text(handle);
  app_fail(app, what, *text ? text : perdure_status_name(status));
}

static void remember_blocking(app_t* app, double seconds) {
  if (app->checkpoints == app->checkpoint_capacity) {
    app->checkpoint_capacity = app->checkpoint_capacity == 0 ? 64 : 2 * app->checkpoint_capacity;
    app->blocking_s = realloc(app->blocking_s, (size_t)app->checkpoint_capacity * sizeof(double));
    if (app->blocking_s == NULL) app_fail(app, "out of memory", "");
  }
  app->blocking_s[app->checkpoints++] = seconds;
}

/** For demonstrations: computes nothing until the checkpoint survives the loss of a node. */
static void wait_for_level_node(app_t* app, perdure_t* handle, long step) {
  const perdure_status status = perdure_wait(handle, app->name, step, PERDURE_LEVEL_NODE, PERDURE_FOREVER);
  if (status != PERDURE_OK) {
    fprintf(stderr, "%s: rank %d: step %ld would not survive the loss of a node: %s\n", app->name, app->rank, step,
            perdure_error_text(handle));
  } else if (app->rank == 0) {
    printf("rank 0: step %ld survives the loss of a node\n", step);
    fflush(stdout);
  }
}

/** For benchmarks: no flush is in flight when the next checkpoint begins. */
static void wait_for_level_store(app_t* app, perdure_t* handle, long step) {
  if (perdure_wait(handle, app->name, step, PERDURE_LEVEL_STORE, PERDURE_FOREVER) != PERDURE_OK)
    fprintf(stderr, "%s: rank %d: step %ld is not at the store: %s\n", app->name, app->rank, step,
            perdure_error_text(handle));
}

void app_checkpointed(app_t* app, perdure_t* handle, perdure_status status, long step, double seconds) {
  if (status != PERDURE_OK) {
    ++app->failed_checkpoints;
    fprintf(stderr, "%s: rank %d: no checkpoint of step %ld: %s\n", app->name, app->rank, step,
            perdure_error_text(handle));
    return;
  }
  remember_blocking(app, seconds);
  app->last_checkpoint_step = step;
  if (app->rank == 0) {
    printf("rank 0: checkpoint of step %ld\n", step);
    fflush(stdout);
  }
  if (app->wait_for_node) wait_for_level_node(app, handle, step);
  if (app->wait_for_store) wait_for_level_store(app, handle, step);
}

long app_restored(app_t* app, perdure_t* handle, perdure_status status) {
  if (status == PERDURE_NOT_FOUND) return 0;
  app_require(app, handle, status, "cannot restore");
  perdure_progress progress;
  (void)perdure_get_progress(handle, &progress); /* the version is known without the engine */
  app->restored_step = (long)progress.restored_version;
  if (app->rank == 0) {
    printf("rank 0: restored step %ld\n", app->restored_step);
    fflush(stdout);
  }
  return app->restored_step;
}

void app_hash(app_t* app, const void* data, size_t bytes) {
  uint64_t hash = app->hash;
  if (app->rank > 0) MPI_Recv(&hash, 1, MPI_UINT64_T, app->rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const unsigned char* byte = data;
  for (size_t i = 0; i < bytes; ++i) hash = (hash ^ byte[i]) * 0x100000001b3U;
  if (app->rank + 1 < app->ranks) MPI_Send(&hash, 1, MPI_UINT64_T, app->rank + 1, 7, MPI_COMM_WORLD);
  MPI_Bcast(&hash, 1, MPI_UINT64_T, app->ranks - 1, MPI_COMM_WORLD);
  app->hash = hash;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/** The slowest rank counts for every checkpoint. */
static void gather_blocking(app_t* app, figures* out) {
  const int count = (int)app->checkpoints; /* the same on all ranks: a checkpoint succeeds on all or on none */
  if (count == 0) return;
  double* slowest = calloc((size_t)count, sizeof(double));
  if (slowest == NULL) app_fail(app, "out of memory", "");
  MPI_Reduce(app->blocking_s, slowest, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  qsort(slowest, (size_t)count, sizeof(double), ascending);
  out->blocking_median_s = slowest[count / 2];
  out->blocking_max_s = slowest[count - 1];
  free(slowest);
}

static figures gather(app_t* app, perdure_t* handle) {
  figures out;
  memset(&out, 0, sizeof out);
  gather_blocking(app, &out);
  perdure_progress progress;
  memset(&progress, 0, sizeof progress);
  if (handle != NULL) app_require(app, handle, perdure_get_progress(handle, &progress), "no progress");
  const double mine[2] = {progress.last_flush_s, progress.last_restore_s};
  double slowest[2] = {0, 0};
  MPI_Reduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  out.flush_s = slowest[0];
  out.restore_s = slowest[1];
  MPI_Reduce(&progress.last_bytes, &out.bytes, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
  return out;
}

static void print_json(const app_t* app, const figures* f) {
  FILE* file = fopen(app->json_path, "w");
  if (file == NULL) app_fail(app, "cannot write the statistics", app->json_path);
  fprintf(file,
          "{\"application\":\"%s\",\"ranks\":%d,\"hash\":\"%016" PRIx64
          "\",\"restored_step\":%ld,"
          "\"checkpoints\":%ld,\"failed_checkpoints\":%ld,\"blocking_median_s\":%.9f,\"blocking_max_s\":%.9f,"
          "\"flush_s\":%.9f,\"restore_s\":%.9f,\"checkpoint_bytes\":%" PRIu64 "}\n",
          app->name, app->ranks, app->hash, app->restored_step, app->checkpoints, app->failed_checkpoints,
          f->blocking_median_s, f->blocking_max_s, f->flush_s, f->restore_s, f->bytes);
  if (fclose(file) != 0) app_fail(app, "cannot write the statistics", app->json_path);
}

static void print_figures(const app_t* app, const figures* f) {
  printf("final state hash: %016" PRIx64 "\n", app->hash);
  if (app_checkpoints(app)) {
    printf("checkpoints: %ld, blocking median %.6f s, max %.6f s, last flush %.6f s, restore %.6f s, %" PRIu64
           " bytes\n",
           app->checkpoints, f->blocking_median_s, f->blocking_max_s, f->flush_s, f->restore_s, f->bytes);
  }
  fflush(stdout);
  if (app->json_path != NULL) print_json(app, f);
}

void app_end(app_t* app, perdure_t* handle) {
  if (handle != NULL && app->last_checkpoint_step >= 0) {
    const perdure_status status =
        perdure_wait(handle, app->name, app->last_checkpoint_step, PERDURE_LEVEL_STORE, PERDURE_FOREVER);
    if (status != PERDURE_OK) {
      fprintf(stderr, "%s: rank %d: the last checkpoint is not at the store: %s\n", app->name, app->rank,
              perdure_error_text(handle));
    }
  }
  const figures all = gather(app, handle);
  if (app->rank == 0) print_figures(app, &all);
  free(app->blocking_s);
  free(app);
}
