/* What the first listing of README.md leaves to the reader. Run on two ranks. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#define initialise(...) ((void)0)
#define compute(...) ((void)0)
static size_t count = 1000;
static void stop(const char* why) {
  fprintf(stderr, "%s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  (void)count, (void)stop;
  MPI_Init(&argc, &argv);
  /* THE PAGE'S LINES */
  MPI_Finalize();
  return 0;
}
