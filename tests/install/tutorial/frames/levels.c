/* Section 6: a program asks which level a version has reached. */
#include <perdure/perdure.h>
#include <stdio.h>

int main(void) {
  static double field[1000];
  const int64_t step = 1;
  perdure_t* handle;
  perdure_level level = PERDURE_LEVEL_NONE;
  perdure_progress progress = {0};
  char text[1024];
  if (perdure_open("store.path=levels-store", &handle, text, sizeof text) != PERDURE_OK) return puts(text), 1;
  perdure_protect(handle, 0, field, sizeof field[0], 1000);
  if (perdure_checkpoint(handle, "tutorial", step) != PERDURE_OK) return puts(perdure_error_text(handle)), 1;
  /* THE PAGE'S LINES */
  printf("level %d, %llu bytes to go\n", level, (unsigned long long)progress.bytes_pending);
  return perdure_close(&handle) == PERDURE_OK ? 0 : 1;
}
