/* Implements the hooks of the demonstration and of the tests: they tell where a rank is, and kill one at a known step.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app_state.h"

void app_demo_write_pid(const app_t* app) {
  const char* directory = getenv("PERDURE_DEMO_PIDS");
  if (directory == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/rank-%d.pid", directory, app->rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) app_fail(app, "PERDURE_DEMO_PIDS: cannot write", path);
  fprintf(file, "%ld\n", (long)getpid());
  fclose(file);
}

void app_demo_maybe_die(const app_t* app, long step) {
  const char* order = getenv("PERDURE_DEMO_KILL");
  if (order == NULL) return;
  int rank = -1, begin = 0;
  long when = -1;
  if (sscanf(order, "%d:%ld:%n", &rank, &when, &begin) < 2 || begin == 0) {
    app_fail(app, "PERDURE_DEMO_KILL must be RANK:STEP:MARKER", order);
  }
  const char* marker = order + begin;
  if (rank != app->rank || when != step || access(marker, F_OK) == 0) return;
  /* The marker is written first, so that only the first attempt dies, whatever happens next. */
  FILE* file = fopen(marker, "w");
  if (file == NULL) app_fail(app, "PERDURE_DEMO_KILL: cannot write", marker);
  fclose(file);
  kill(getpid(), SIGKILL);
}
