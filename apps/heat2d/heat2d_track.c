/* Solves the problem of heat2d.c without checkpoints of its own: it declares its data, and how its two regions of code
 * use it. From that Perdure finds what a checkpoint needs (one plate of the two), and a restart skips regions up to
 * there. The step is not stored, because the loop counts it again. Final bits are those of heat2d.c. */
#include <inttypes.h>
#include <mpi.h>
#include <stdio.h>

#include "perdure/perdure_mpi.h"
#include "perdure/perdure_track.h"
#include "plate.h"

typedef struct tracked {
  perdure_t* handle;
  perdure_track_t* track; /* NULL: nothing is protected */
  int now, next;
} tracked;

static void require(const plate* p, const tracked* t, perdure_status status, const char* what) {
  const char* why = perdure_track_error_text(t->track);
  if (status != PERDURE_OK) app_require(p->app, NULL, status, *why ? why : what);
}

static int data(const plate* p, const tracked* t, double* cells, const char* name) {
  plate_part part;
  int number = -1;
  plate_describe(p, cells, name, &part);
  require(p, t, perdure_track_array(t->track, &part.array, &part.rows, part.boxes, &number), "cannot track");
  return number;
}

static void start(const plate* p, tracked* t) {
  char message[1024] = "";
  app_require(p->app, NULL, perdure_open_mpi(MPI_COMM_WORLD, NULL, &t->handle, message, sizeof message), message);
  const perdure_track_policy policy = {.name = "heat2d",
                                       .every_regions = 2 * (uint64_t)app_integer(p->app, "checkpoint_every", 10),
                                       .learns = 16}; /* a step has two regions, so more is known after eight of them */
  app_require(p->app, NULL, perdure_track_open(t->handle, &policy, &t->track, message, sizeof message), message);
  t->now = data(p, t, p->now, "now");
  t->next = data(p, t, p->next, "next");
  require(p, t, perdure_track_start(t->track), "cannot go on");
}

/** Reports the checkpoints, and checks that the run reached the place where it should resume. */
static void end(const plate* p, tracked* t) {
  perdure_track_info info;
  char message[1024] = "";
  require(p, t, perdure_track_get_info(t->track, &info), "cannot end");
  if (app_rank(p->app) == 0 && info.restarted)
    printf("rank 0: went on at region %" PRIu64 " of %" PRIu64 "\n", info.goes_on_at, info.regions);
  if (app_rank(p->app) == 0)
    printf("rank 0: %" PRIu64 " checkpoints, of %" PRIu64 " of %" PRIu64 " bytes, before '%s'\n", info.checkpoints,
           info.last_bytes, info.state_bytes, info.last_before);
  app_require(p->app, NULL, perdure_track_close(&t->track, message, sizeof message), message);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  app_t* app = app_begin("heat2d", argc, argv);
  const long steps = app_integer(app, "steps", 100);
  plate p = plate_make(app);
  tracked t = {NULL, NULL, 0, 0};
  if (app_checkpoints(app)) start(&p, &t);
  while (p.step < steps) {
    app_step(app, (long)p.step, steps);
    PERDURE_TRACK_REGION(t.track, "advance", perdure_reads(t.now), perdure_writes(t.next)) { plate_advance(&p); }
    plate_swap(&p);
    if (t.track != NULL) require(&p, &t, perdure_track_swap(t.track, t.now, t.next), "cannot swap");
  }
  if (t.track != NULL) end(&p, &t);
  plate_hash(&p);
  app_end(app, t.handle);
  if (t.handle != NULL) perdure_close(&t.handle);
  plate_free(&p);
  MPI_Finalize();
  return 0;
}
