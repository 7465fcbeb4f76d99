// This program captures itself while it computes: `selfish DIRECTORY NAME STEPS CAPTURES OPTIONS [private]`. It
// computes in each of STEPS steps. In the first CAPTURES of them it is captured as the next version of NAME, and adds
// the outcome to DIRECTORY/log. After the capture of step 2 it waits for DIRECTORY/go, unless it was resumed. At its
// end DIRECTORY/result has its result. A second thread checks itself meanwhile. With `private` only root may look at
// its memory, and programs that it starts lack root's right to do so.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "perdure/process.h"

static atomic_int over, wrong;
static atomic_ulong turns;

static uint64_t mixed(uint64_t value, int times) {
  for (int i = 0; i < times; ++i) value = (value ^ (value >> 29)) * 0xbf58476d1ce4e5b9U + 1;
  return value;
}

static void pause_ms(long ms) {
  const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&time, NULL);  // wait: it is captured meanwhile
}

static void* judge(void* nothing) {
  const uint64_t first = mixed(4711, 1000);
  while (!over) {
    if (mixed(4711, 1000) != first) wrong = 1;
    ++turns;
    pause_ms(1);
  }
  return nothing;
}

static void add_line(const char* directory, const char* file, const char* line) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, file);
  FILE* out = fopen(path, "ae");
  if (out == NULL || fprintf(out, "%s\n", line) < 0 || fclose(out) != 0) wrong = 1;
}

static int is_there(const char* directory, const char* file) {
  char path[4096];
  struct stat status;
  snprintf(path, sizeof path, "%s/%s", directory, file);
  return stat(path, &status) == 0;
}

/** Returns whether this is the resumed process. */
static int capture(const char* directory, const char* name, int step, const char* options) {
  char message[1024] = "", line[2048];
  const perdure_capture_choices choices = {.options = options};
  int64_t version = 0;
  int came_back = 7;
  const perdure_status status = perdure_capture_self(name, &choices, &version, &came_back, message, sizeof message);
  if (status != PERDURE_OK)
    snprintf(line, sizeof line, "step %d: failed %d: %s", step, (int)status, message);
  else
    snprintf(line, sizeof line, "step %d: %s %lld", step, came_back ? "came back" : "captured", (long long)version);
  if (came_back != 0 && came_back != 1) wrong = 1;
  add_line(directory, "log", line);
  return status == PERDURE_OK && came_back;
}

int main(int count, char** words) {
  if (count < 6) return 2;
  const char* directory = words[1];
  const int steps = atoi(words[3]), captures = atoi(words[4]);
  if (count > 6) {
    const int trace_others = 19;  // CAP_SYS_PTRACE
    prctl(PR_CAPBSET_DROP, trace_others, 0, 0, 0);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  }
  pthread_t thread;
  if (pthread_create(&thread, NULL, judge, NULL) != 0) return 3;
  uint64_t value = 1;
  for (int step = 1; step <= steps; ++step) {
    value = mixed(value, 100000 + step);
    if (step > captures) continue;
    const int back = capture(directory, words[2], step, words[5]);
    const unsigned long before = turns;
    while (turns < before + 2) pause_ms(1);  // the other thread works, too
    while (step == 2 && !back && !is_there(directory, "go")) pause_ms(2);
  }
  over = 1;
  pthread_join(thread, NULL);
  char result[64];
  snprintf(result, sizeof result, "%016llx %s", (unsigned long long)value, wrong ? "wrong" : "right");
  add_line(directory, "result", result);
  return wrong ? 99 : 5;
}
