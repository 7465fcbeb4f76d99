/* Protects, captures, forgets and restores an array. The argument is the directory of the store. */
#include <perdure/perdure.h>
#include <stdio.h>

int main(int argc, char** argv) {
  double state[1000];
  char options[4200];
  char message[1024] = "";
  perdure_t* handle = NULL;
  if (argc != 2) return 2;
  snprintf(options, sizeof options, "store.path=%s/store-c", argv[1]);
  for (int i = 0; i < 1000; ++i) state[i] = i;
  if (perdure_open(options, &handle, message, sizeof message) != PERDURE_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (perdure_protect(handle, 0, state, sizeof state[0], 1000) != PERDURE_OK ||
      perdure_checkpoint(handle, "outside", 1) != PERDURE_OK) {
    fprintf(stderr, "%s\n", perdure_error_text(handle));
    return 1;
  }
  for (int i = 0; i < 1000; ++i) state[i] = -1;
  if (perdure_wait(handle, "outside", 1, PERDURE_LEVEL_STORE, 60) != PERDURE_OK ||
      perdure_restore(handle, "outside", PERDURE_LATEST) != PERDURE_OK) {
    fprintf(stderr, "%s\n", perdure_error_text(handle));
    return 1;
  }
  for (int i = 0; i < 1000; ++i) {
    if (state[i] != i) return 1;
  }
  return perdure_close(&handle) == PERDURE_OK ? 0 : 1;
}
