/* The frame for the first listing of README.md. It runs on two ranks, and FRAME_ENDS_AT kills them at that step. */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static size_t count = 1000;
static void initialise(double* field) {
  for (size_t i = 0; i < count; ++i) field[i] = 0;
}
static void compute(double* field) {
  static int calls = 0;
  const char* last = getenv("FRAME_ENDS_AT");
  if (last != NULL && ++calls == atoi(last)) raise(SIGKILL);
  for (size_t i = 0; i < count; ++i) field[i] += 1;
}
static void stop(const char* why) {
  fprintf(stderr, "%s\n", why);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  /* THE PAGE'S LINES */
  MPI_Finalize();
  return field[0] == 1000 && field[count - 1] == 1000 ? 0 : 1; /* a resumed run has lost no step, nor made one twice */
}
