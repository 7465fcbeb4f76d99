/* Uses a reader from C, for reader_test.cpp: the header is C, and the functions are called as it
 * documents. */
#include <stdio.h>
#include <string.h>

#include "perdure/perdure_reader.h"

/* Returns the sum of the array `region` of 8-byte reals; negative if it cannot be read. */
double sum_in_c(const char* store, const char* name, const char* region) {
  perdure_reader_t* reader = NULL;
  char message[256];
  static double values[1000];
  double sum = 0;
  if (perdure_open_reader(store, name, PERDURE_LATEST, &reader, message, sizeof message) != PERDURE_OK) {
    fprintf(stderr, "%s\n", message);
    return -1;
  }
  size_t index = 0;
  perdure_region_info info;
  if (perdure_reader_find(reader, region, &index) != PERDURE_OK ||
      perdure_reader_region(reader, index, &info) != PERDURE_OK || strcmp(info.type, "f8") != 0 ||
      info.bytes > sizeof values || perdure_reader_read(reader, index, NULL, NULL, values, info.bytes) != PERDURE_OK) {
    fprintf(stderr, "%s\n", perdure_reader_error_text(reader));
    sum = -1;
  } else {
    for (size_t i = 0; i < info.bytes / sizeof values[0]; ++i) sum += values[i];
  }
  return perdure_close_reader(&reader) == PERDURE_OK && reader == NULL ? sum : -2;
}
