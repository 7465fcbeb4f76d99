/* A program that users change between two starts: its regions and actions are on its command line, as KEY=VALUE. It
 * prints one line per call with the outcome, in fields separated by tabs. The content of a region at the n-th
 * checkpoint follows from `stamp`, n and the region's number. */
#define _POSIX_C_SOURCE 200809L
#include <perdure/perdure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kMostRegions = 64, kNeverAsks = 60, kMixed = -2, kUntouched = -1, kApart = 10000, kNumbers = 1000 };

typedef struct {
  int id;
  char name[72], type[8];
  int optional, followed;
  int64_t* numbers;
  size_t count;
} Region;

static Region regions[kMostRegions];
static int region_count;
static const char *options = "", *name = "run", *from = "latest", *memory = "", *end = "close";
static long stamp, writes;
static int stubborn, asks;

static void say(const char* call, perdure_status status, long long version, const char* text) {
  char line[4096];
  snprintf(line, sizeof line, "%s", text);
  for (char* at = line; *at != 0; ++at)
    if (*at == '\n' || *at == '\t') *at = ' ';
  printf("%s\t%d\t%lld\t%s\n", call, (int)status, version, line);
  fflush(stdout);
}

static void make(Region* region, size_t count) {
  region->numbers = malloc(count * sizeof(int64_t) + 8);
  if (region->numbers == NULL) exit(91);
  region->count = count;
  for (size_t i = 0; i < count; ++i) region->numbers[i] = kUntouched;
}

/* Parses ID:NAME:COUNT:TYPE:FLAGS; the flag o makes the region optional, f makes it follow its owner. */
static void add_region(const char* text) {
  if (region_count == kMostRegions) exit(92);
  Region* region = &regions[region_count++];
  char flags[8] = "", parts[5][72] = {"", "", "", "", ""};
  int part = 0;
  size_t at = 0;
  for (; *text != 0 && part < 5; ++text) {
    if (*text == ':') {
      ++part;
      at = 0;
    } else if (at + 1 < sizeof parts[0]) {
      parts[part][at++] = *text;
    }
  }
  region->id = atoi(parts[0]);
  snprintf(region->name, sizeof region->name, "%s", parts[1]);
  snprintf(region->type, sizeof region->type, "%.7s", parts[3]);
  snprintf(flags, sizeof flags, "%.7s", parts[4]);
  region->optional = strchr(flags, 'o') != NULL;
  region->followed = strchr(flags, 'f') != NULL;
  make(region, (size_t)atol(parts[2]));
}

static int locate(void* owner, void** address, size_t* count) {
  const Region* region = owner;
  *address = region->numbers;
  *count = region->count;
  return 0;
}

static void protect(perdure_t* handle) {
  for (int i = 0; i < region_count; ++i) {
    Region* region = &regions[i];
    const uint64_t extent = region->count;
    perdure_status status = perdure_protect(handle, region->id, region->numbers, sizeof(int64_t), region->count);
    if (status == PERDURE_OK && region->name[0] != 0)
      status = perdure_describe(handle, region->id, region->name, NULL, NULL);
    if (status == PERDURE_OK && region->type[0] != 0)
      status = perdure_describe_elements(handle, region->id, region->type, 1, &extent);
    if (status == PERDURE_OK && region->optional) status = perdure_set_presence(handle, region->id, PERDURE_OPTIONAL);
    if (status == PERDURE_OK && region->followed) status = perdure_follow(handle, region->id, locate, region);
    if (status != PERDURE_OK) say("protect", status, region->id, perdure_error_text(handle));
  }
}

/* Declares BEFORE>NOW, or a region that is passed over. */
static void declare(perdure_t* handle, const char* text) {
  char before[72];
  const char* now = strchr(text, '>');
  snprintf(before, sizeof before, "%.*s", now == NULL ? 71 : (int)(now - text), text);
  const perdure_status status =
      now == NULL ? perdure_pass_over(handle, before) : perdure_renamed(handle, before, now + 1);
  if (status != PERDURE_OK) say("protect", status, -1, perdure_error_text(handle));
}

static void put_number(Region* region, size_t i, int64_t number) {
  const double real = (double)number;
  if (strcmp(region->type, "f8") == 0)
    memcpy(&region->numbers[i], &real, sizeof real);
  else
    region->numbers[i] = number;
}

static void fill(long turn) {
  for (int i = 0; i < region_count; ++i)
    for (size_t k = 0; k < regions[i].count; ++k)
      put_number(&regions[i], k, ((stamp + turn) * kNumbers + regions[i].id) * kApart + (int64_t)(k % kApart));
}

/* If this code or the previous one gives no type, the elements may be integers or reals. */
static double number_at(const Region* region, size_t i, int real) {
  double number = 0;
  memcpy(&number, &region->numbers[i], sizeof number);
  return real ? number : (double)region->numbers[i];
}

static long long content_as(const Region* region, int real) {
  const double first = number_at(region, 0, real);
  if (!(first >= 1 && first < 1e15)) return kMixed;
  const long long value = (long long)(first / kApart);
  for (size_t k = 0; k < region->count; ++k)
    if (number_at(region, k, real) != (double)(value * kApart + (long long)(k % kApart))) return kMixed;
  return value;
}

/* Returns the stamp and number that all elements of a region share. */
static long long content(const Region* region) {
  int touched = 0;
  for (size_t k = 0; k < region->count; ++k) touched = touched || region->numbers[k] != kUntouched;
  if (!touched) return kUntouched;
  const long long value = content_as(region, 0);
  return value == kMixed ? content_as(region, 1) : value;
}

static void tell_regions(perdure_t* handle) {
  for (int i = 0; i < region_count; ++i) {
    int restored = 0;
    char id[24];
    (void)perdure_was_restored(handle, regions[i].id, &restored);
    snprintf(id, sizeof id, "%d", regions[i].id);
    say("region", (perdure_status)restored, content(&regions[i]), id);
  }
}

static perdure_status restore(perdure_t* handle) {
  if (strncmp(from, "number:", 7) == 0) return perdure_restore(handle, name, atol(from + 7));
  if (strncmp(from, "branch:", 7) == 0) return perdure_restore_branch(handle, name, from + 7, PERDURE_LATEST);
  return perdure_restore(handle, name, PERDURE_LATEST);
}

static perdure_status restore_and_tell(perdure_t* handle, long long* version) {
  perdure_restored_info info;
  const perdure_status status = restore(handle);
  const char* text = status == PERDURE_OK ? "" : perdure_error_text(handle);
  char kept[4096];
  snprintf(kept, sizeof kept, "%s", text);
  if (status == PERDURE_OK && perdure_restored(handle, &info) == PERDURE_OK) {
    char passed[24];
    *version = info.version;
    snprintf(passed, sizeof passed, "%u", info.passed_over);
    say("passed", PERDURE_OK, info.version, passed);
  }
  tell_regions(handle);
  say("restore", status, *version, kept);
  return status;
}

static Region* followed(int which) {
  for (int i = 0; i < region_count; ++i)
    if (regions[i].followed && which-- == 0) return &regions[i];
  return NULL;
}

/* Changes the memory of regions that follow their owners. */
static void change_memory(void) {
  Region *one = followed(0), *other = followed(1);
  if (one == NULL) return;
  int64_t* const old = one->numbers;
  if (strcmp(memory, "move") == 0) make(one, one->count);
  if (strcmp(memory, "grow") == 0) make(one, 3 * one->count);
  if (strcmp(memory, "shrink") == 0) make(one, 1);
  if (strcmp(memory, "clear") == 0) make(one, 0);
  if (strcmp(memory, "swap") == 0 && other != NULL) {
    const Region first = *one;
    one->numbers = other->numbers;
    one->count = other->count;
    other->numbers = first.numbers;
    other->count = first.count;
  }
  if (one->numbers != old && strcmp(memory, "swap") != 0) free(old);
}

static perdure_status checkpoint(perdure_t* handle, long turn, long long version) {
  fill(turn);
  say("begin", PERDURE_OK, version, "");
  const perdure_status status = perdure_checkpoint(handle, name, version);
  say("checkpoint", status, version, status == PERDURE_OK ? "" : perdure_error_text(handle));
  return status;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Runs until somebody asks for the end and the last checkpoint is made. */
static void compute(perdure_t* handle, long turn, long long version) {
  const double begun = seconds();
  const struct timespec step = {0, 1000000};
  say("computes", PERDURE_OK, version, "");
  for (unsigned reasons = 0; seconds() - begun < kNeverAsks;) {
    nanosleep(&step, NULL);  // wait: it computes
    if (asks && perdure_due(handle, &reasons) != PERDURE_OK) return;
    if (reasons == 0) continue;
    say("due", PERDURE_OK, reasons, "");
    if (checkpoint(handle, turn++, version) == PERDURE_OK) ++version;
    if ((reasons & PERDURE_DUE_END) != 0) return;
  }
}

static void leave(perdure_t** handle) {
  if (strcmp(end, "close") == 0) {
    const perdure_status status = perdure_close(handle);
    say("close", status, 0, status == PERDURE_OK ? "" : perdure_error_text(NULL));
  }
  if (strcmp(end, "exit") == 0) exit(0);
  if (strcmp(end, "quick") == 0) _exit(0);
  if (strcmp(end, "abort") == 0) abort();
}

static void read_arguments(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    const char* const value = strchr(arguments[i], '=') == NULL ? "" : strchr(arguments[i], '=') + 1;
    if (strncmp(arguments[i], "options=", 8) == 0) options = value;
    if (strncmp(arguments[i], "name=", 5) == 0) name = value;
    if (strncmp(arguments[i], "region=", 7) == 0) add_region(value);
    if (strncmp(arguments[i], "from=", 5) == 0) from = value;
    if (strncmp(arguments[i], "memory=", 7) == 0) memory = value;
    if (strncmp(arguments[i], "end=", 4) == 0) end = value;
    if (strncmp(arguments[i], "stamp=", 6) == 0) stamp = atol(value);
    if (strncmp(arguments[i], "writes=", 7) == 0) writes = atol(value);
    if (strcmp(arguments[i], "stubborn") == 0) stubborn = 1;
    if (strcmp(arguments[i], "asks") == 0) asks = 1;
  }
}

int main(int count, char** arguments) {
  perdure_t* handle = NULL;
  char message[4096] = "";
  int computes = 0;
  read_arguments(count, arguments);
  perdure_status status = perdure_open(options, &handle, message, sizeof message);
  say("open", status, 0, message);
  if (handle == NULL) return 0;
  protect(handle);
  for (int i = 1; i < count; ++i) {
    if (strncmp(arguments[i], "declare=", 8) == 0) declare(handle, arguments[i] + 8);
    if (strcmp(arguments[i], "computes") == 0) computes = 1;
  }
  long long version = 0;
  if (strcmp(from, "none") != 0) status = restore_and_tell(handle, &version);
  const int goes_on = status == PERDURE_OK || status == PERDURE_NOT_FOUND || stubborn;
  long turn = 0;
  for (status = PERDURE_OK; goes_on && turn < writes && status == PERDURE_OK; ++turn) {
    if (turn + 1 == writes) change_memory();
    status = checkpoint(handle, turn, version + 1);
    if (status == PERDURE_OK) ++version;
  }
  if (goes_on && computes && status == PERDURE_OK) compute(handle, turn, version + 1);
  leave(&handle);
  return 0;
}
