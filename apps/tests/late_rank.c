#define _POSIX_C_SOURCE 200809L
/* late_rank SECONDS RANK... is a tracked program of which these ranks do not reach the checkpoint. They wait for
 * messages that no rank sends, as if only some ranks had begun a region. The other ranks print their error, and end.
 * LATE_RANK_SLEEPS=RANK: that rank comes 1.8 s after the others. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "perdure/perdure_mpi.h"
#include "perdure/perdure_track.h"

static int stays_away(int rank, int argc, char** argv) {
  for (int i = 2; i < argc; ++i)
    if (atoi(argv[i]) == rank) return 1;
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  perdure_t* handle = NULL;
  perdure_track_t* track = NULL;
  char message[1024] = "";
  const perdure_track_policy policy = {.name = "late", .every_regions = 10, .learns = 8, .patience_s = atof(argv[1])};
  double value = 0;
  int data = 0;
  const uint64_t extent = (uint64_t)ranks, begin = (uint64_t)rank, end = begin + 1;
  const perdure_array array = {"value", "f8", 1, &extent, NULL, 0, NULL, NULL};
  const perdure_box box = {&value, &begin, &end, NULL};
  if (perdure_open_mpi(MPI_COMM_WORLD, NULL, &handle, message, sizeof message) != PERDURE_OK ||
      perdure_track_open(handle, &policy, &track, message, sizeof message) != PERDURE_OK ||
      perdure_track_array(track, &array, &box, 1, &data) != PERDURE_OK || perdure_track_start(track) != PERDURE_OK) {
    fprintf(stderr, "rank %d cannot begin: %s%s\n", rank, message, perdure_track_error_text(track));
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  const perdure_access uses[] = {perdure_reads_writes(data)};
  for (int step = 0; step < 100; ++step) {
    int run = 0;
    if (step == 5 && stays_away(rank, argc, argv))
      MPI_Recv(&run, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const char* sleeper = getenv("LATE_RANK_SLEEPS");
    if (step == 5 && sleeper != NULL && atoi(sleeper) == rank) {
      const struct timespec while_others_wait = {1, 800000000};
      nanosleep(&while_others_wait, NULL);  // wait: others are to wait for this one
    }
    const perdure_status begun = perdure_track_begin(track, "advance", "main", uses, 1, &run);
    if (begun != PERDURE_OK) {
      printf("rank %d: %s: %s\n", rank, perdure_status_name(begun), perdure_track_error_text(track));
      fflush(stdout);
      perdure_track_close(&track, NULL, 0);
      (void)perdure_close(&handle); /* returns, though the others do not come */
      printf("rank %d: closed\n", rank);
      fflush(stdout);
      MPI_Recv(&run, 1, MPI_INT, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* until the test has seen everything */
    }
    value += 1;
    perdure_track_end(track);
  }
  printf("rank %d: nobody was missed\n", rank);
  MPI_Finalize();
  return 0;
}
