/* Section 5: a program learns the size of a region only from the stored version. */
#include <perdure/perdure.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  double* field = NULL;
  int64_t step = 0;
  perdure_t* handle;
  char message[1024];
  if (perdure_open(NULL, &handle, message, sizeof message) != PERDURE_OK) return fprintf(stderr, "%s\n", message), 1;
  perdure_protect(handle, 1, &step, sizeof step, 1);
  /* THE PAGE'S LINES */
  if (field == NULL) return fprintf(stderr, "nothing was found: %s\n", perdure_error_text(handle)), 1;
  printf("%llu elements, of which the second is %g\n", (unsigned long long)size.count, field[1]);
  const perdure_status closed = perdure_close(&handle);
  free(field);
  return closed == PERDURE_OK ? 0 : 1;
}
