// A program that captures itself; it uses only perdure/process.h.
#include <perdure/process.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1  // a sanitized program has too much memory mapped to be resumed
#else
#define SANITIZED 0
#endif

int main(int count, char** arguments) {
  char text[4096], message[4096] = "", options[4096];
  snprintf(options, sizeof options, "store.path=%s", count > 1 ? arguments[1] : "store");
  const perdure_capture_choices choices = {.options = options};
  if (perdure_process_obstacles(getpid(), &choices, text, sizeof text, message, sizeof message) != PERDURE_OK) {
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  if (SANITIZED) return 0;
  int64_t version = 0;
  int came_back = 7;
  const perdure_status status = perdure_capture_self("itself", &choices, &version, &came_back, message, sizeof message);
  printf("%s%s\n", text, message);
  // A machine may lack or forbid what this needs; the status must then say so.
  if (status == PERDURE_OK) return version == 1 && came_back == 0 ? 0 : 2;
  return (status == PERDURE_UNSUPPORTED || status == PERDURE_PERMISSION) && message[0] != 0 ? 0 : 3;
}
