/* Reads command line and input file: "key = value" lines, '#' begins a comment. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app_state.h"

void app_fail(const app_t* app, const char* message, const char* detail) {
  fprintf(stderr, "%s: rank %d: %s%s%s\n", app->name, app->rank, message, *detail ? ": " : "", detail);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

static char* trimmed(char* text) {
  while (isspace((unsigned char)*text)) ++text;
  size_t length = strlen(text);
  while (length > 0 && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
  return text;
}

static void read_line(app_t* app, char* line) {
  line[strcspn(line, "#")] = '\0';
  char* key = trimmed(line);
  if (*key == '\0') return;
  char* equals = strchr(key, '=');
  if (equals == NULL) app_fail(app, "the input file has a line without '='", key);
  *equals = '\0';
  if (app->setting_count == app_max_settings) app_fail(app, "the input file has too many settings", "");
  app_setting* setting = &app->settings[app->setting_count++];
  snprintf(setting->key, sizeof setting->key, "%s", trimmed(key));
  snprintf(setting->value, sizeof setting->value, "%s", trimmed(equals + 1));
}

static void read_file(app_t* app, const char* path) {
  FILE* file = fopen(path, "r");
  if (file == NULL) app_fail(app, path, strerror(errno));
  char line[app_text_bytes];
  while (fgets(line, sizeof line, file) != NULL) read_line(app, line);
  fclose(file);
}

static const char* read_arguments(app_t* app, int argc, char** argv) {
  const char* input = NULL;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--no-checkpoint") == 0) {
      app->without_checkpoints = 1;
    } else if (strcmp(argv[i], "--json-stats") == 0 && i + 1 < argc) {
      app->json_path = argv[++i];
    } else if (argv[i][0] != '-' && input == NULL) {
      input = argv[i];
    } else {
      app_fail(app, "usage: PROGRAM INPUT [--no-checkpoint] [--json-stats FILE]; not understood", argv[i]);
    }
  }
  if (input == NULL) app_fail(app, "usage: PROGRAM INPUT [--no-checkpoint] [--json-stats FILE]", "");
  return input;
}

app_t* app_begin(const char* name, int argc, char** argv) {
  app_t* app = calloc(1, sizeof *app);
  if (app == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  snprintf(app->name, sizeof app->name, "%s", name);
  MPI_Comm_rank(MPI_COMM_WORLD, &app->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &app->ranks);
  app->last_checkpoint_step = app->restored_step = -1;
  app->hash = 0xcbf29ce484222325U;
  const char* input = read_arguments(app, argc, argv);
  /* Rank 0 reads for all, so that other nodes need not see the file. */
  if (app->rank == 0) read_file(app, input);
  MPI_Bcast(&app->setting_count, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(app->settings, (int)sizeof app->settings, MPI_BYTE, 0, MPI_COMM_WORLD);
  app->checkpoint_every = app_integer(app, "checkpoint_every", 0);
  app->report_every = app_integer(app, "report_every", 0);
  app->wait_for_node = app_integer(app, "wait_for_node", 0) != 0;
  app->wait_for_store = app_integer(app, "wait_for_store", 0) != 0;
  app_demo_write_pid(app);
  return app;
}

static const char* setting(const app_t* app, const char* key) {
  for (int i = 0; i < app->setting_count; ++i) {
    if (strcmp(app->settings[i].key, key) == 0) return app->settings[i].value;
  }
  return NULL;
}

double app_number(app_t* app, const char* key, double otherwise) {
  const char* text = setting(app, key);
  if (text == NULL) return otherwise;
  char* end = NULL;
  const double value = strtod(text, &end);
  if (end == text || *end != '\0') app_fail(app, "the input file's value is no number", key);
  return value;
}

long app_integer(app_t* app, const char* key, long otherwise) {
  const char* text = setting(app, key);
  if (text == NULL) return otherwise;
  char* end = NULL;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < 0 || value > INT_MAX) {
    app_fail(app, "the input file's value is no whole number from 0 to 2147483647", key);
  }
  return value;
}

int app_rank(const app_t* app) { return app->rank; }
int app_ranks(const app_t* app) { return app->ranks; }

long app_share(long total, int ranks, int rank) { return total / ranks + (rank < total % ranks ? 1 : 0); }
long app_first(long total, int ranks, int rank) {
  const long rest = total % ranks;
  return rank * (total / ranks) + (rank < rest ? rank : rest);
}
