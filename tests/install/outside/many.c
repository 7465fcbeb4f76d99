/* Checkpoints two ranks with different amounts of data. The argument is the directory of the store. */
#include <mpi.h>
#include <perdure/perdure_mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void require(perdure_t* handle, perdure_status status) {
  if (status == PERDURE_OK) return;
  fprintf(stderr, "%s\n", perdure_error_text(handle));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  int rank = 0;
  char options[4200];
  char message[1024] = "";
  perdure_t* handle = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const size_t count = 1000 * (size_t)(rank + 1);
  int* state = malloc(count * sizeof *state);
  snprintf(options, sizeof options, "store.path=%s/store-many", argv[1]);
  for (size_t i = 0; i < count; ++i) state[i] = (int)i + rank;
  if (perdure_open_mpi(MPI_COMM_WORLD, options, &handle, message, sizeof message) != PERDURE_OK) {
    fprintf(stderr, "%s\n", message);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  require(handle, perdure_protect(handle, 0, state, sizeof *state, count));
  require(handle, perdure_checkpoint(handle, "outside", 1));
  for (size_t i = 0; i < count; ++i) state[i] = -1;
  require(handle, perdure_restore(handle, "outside", PERDURE_LATEST));
  for (size_t i = 0; i < count; ++i) {
    if (state[i] != (int)i + rank) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  require(handle, perdure_close(&handle));
  free(state);
  MPI_Finalize();
  return 0;
}
