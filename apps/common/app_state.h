/* Defines the inside of app_t, for apps/common only. */
#ifndef PERDURE_APPS_APP_STATE_H
#define PERDURE_APPS_APP_STATE_H

#include "app.h"

enum { app_max_settings = 32, app_text_bytes = 256 };

typedef struct app_setting {
  char key[app_text_bytes];
  char value[app_text_bytes];
} app_setting;

struct app {
  char name[app_text_bytes];
  int rank, ranks;
  int setting_count;
  app_setting settings[app_max_settings];
  int without_checkpoints;
  long checkpoint_every, report_every;
  int wait_for_node;     /* waits after every checkpoint until it survives the loss of a node */
  int wait_for_store;    /* and until it is in the store */
  const char* json_path; /* NULL: not requested */

  long checkpoints, checkpoint_capacity, failed_checkpoints;
  double* blocking_s;                       /* of this rank, one per successful checkpoint */
  long last_checkpoint_step, restored_step; /* -1: none */
  uint64_t hash;
};

/** Prints "NAME: MESSAGE" to stderr and ends the job. */
void app_fail(const app_t* app, const char* message, const char* detail);
/** Hooks of the demonstration (demo.c), whose time does not count. */
void app_demo_write_pid(const app_t* app);
void app_demo_maybe_die(const app_t* app, long step);

#endif
