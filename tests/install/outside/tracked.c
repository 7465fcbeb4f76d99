/* Annotates a region with its reads and writes. The argument is the directory of the store. */
#include <perdure/perdure_track.h>
#include <stdio.h>

int main(int argc, char** argv) {
  const uint64_t begin = 0, extent = 100;
  const perdure_array array = {"state", "f8", 1, &extent, NULL, 0, NULL, NULL};
  const perdure_track_policy policy = {.every_regions = 5, .learns = 10};
  double state[100] = {0}, sum = 0;
  const perdure_box box = {state, &begin, &extent, NULL};
  char options[4200], message[1024] = "";
  perdure_t* handle = NULL;
  perdure_track_t* track = NULL;
  int data = -1;
  if (argc != 2) return 2;
  snprintf(options, sizeof options, "store.path=%s/store-tracked-c", argv[1]);
  if (perdure_open(options, &handle, message, sizeof message) != PERDURE_OK ||
      perdure_track_open(handle, &policy, &track, message, sizeof message) != PERDURE_OK ||
      perdure_track_array(track, &array, &box, 1, &data) != PERDURE_OK || perdure_track_start(track) != PERDURE_OK) {
    fprintf(stderr, "%s%s\n", message, perdure_track_error_text(track));
    return 1;
  }
  for (int step = 0; step < 30; ++step) {
    PERDURE_TRACK_REGION(track, "add", perdure_reads_writes(data), perdure_gives(&sum, sizeof sum)) {
      for (int i = 0; i < 100; ++i) sum += state[i] += i;
    }
  }
  perdure_track_info info;
  if (perdure_track_get_info(track, &info) != PERDURE_OK || info.checkpoints == 0) return 1;
  if (perdure_track_close(&track, message, sizeof message) != PERDURE_OK) return 1;
  return perdure_close(&handle) == PERDURE_OK && state[99] == 30 * 99 && sum == 465 * 4950 ? 0 : 1;
}
