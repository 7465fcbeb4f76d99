/* Section 5: a program resumes from a checkpoint of an older program that had other regions. */
#include <perdure/perdure.h>
#include <stdio.h>

static int open_one(perdure_t** handle) {
  char message[1024];
  if (perdure_open(NULL, handle, message, sizeof message) == PERDURE_OK) return 0;
  return fprintf(stderr, "%s\n", message), 1;
}

static int write_older(double* temperature) {
  static double pressure[100];
  perdure_t* handle;
  if (open_one(&handle) != 0) return 1;
  perdure_protect(handle, 0, temperature, sizeof *temperature, 100);
  perdure_describe(handle, 0, "tmp", "K", NULL);
  perdure_protect(handle, 1, pressure, sizeof pressure[0], 100);
  perdure_describe(handle, 1, "pressure", NULL, NULL);
  if (perdure_checkpoint(handle, "changed", 1) != PERDURE_OK)
    return fprintf(stderr, "%s\n", perdure_error_text(handle)), 1;
  return perdure_close(&handle) == PERDURE_OK ? 0 : 1;
}

int main(void) {
  static double temperature[100], extra[10];
  perdure_t* handle;
  temperature[99] = 300;
  if (write_older(temperature) != 0 || open_one(&handle) != 0) return 1;
  temperature[99] = 0;
  perdure_protect(handle, 1, temperature, sizeof temperature[0], 100);
  perdure_describe(handle, 1, "temperature", "K", NULL);
  /* THE PAGE'S LINES */
  if (temperature[99] != 300) return fprintf(stderr, "it did not come back: %s\n", perdure_error_text(handle)), 1;
  if (!restored) printf("going on, and extra begins at %g\n", extra[0]);
  return perdure_close(&handle) == PERDURE_OK ? 0 : 1;
}
