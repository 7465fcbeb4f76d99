/* Section 5: two grids swap their memory, and their regions follow. */
#include <perdure/perdure.h>
#include <stdio.h>

struct grid {
  double* cells;
  size_t count;
};

static void swap_grids(struct grid* a, struct grid* b) {
  const struct grid old = *a;
  *a = *b;
  *b = old;
}

static int where(void* owner, void** address, size_t* count) {
  const struct grid* grid = owner;
  *address = grid->cells;
  *count = grid->count;
  return 0;
}

int main(void) {
  static double first[100] = {1}, second[200] = {2};
  struct grid now = {first, 100}, next = {second, 200};
  char message[1024];
  perdure_t* handle;
  if (perdure_open(NULL, &handle, message, sizeof message) != PERDURE_OK) return fprintf(stderr, "%s\n", message), 1;
  /* THE PAGE'S LINES */
  now.cells[0] = 0;
  if (perdure_restore(handle, "moved", 1) != PERDURE_OK) return fprintf(stderr, "%s\n", perdure_error_text(handle)), 1;
  if (now.count != 200 || now.cells[0] != 2) return fprintf(stderr, "it has something else\n"), 1;
  printf("version 1 has what now had at the call\n");
  return perdure_close(&handle) == PERDURE_OK ? 0 : 1;
}
