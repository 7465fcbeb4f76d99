/* Provides the code that the example applications share besides Perdure: input file, progress, hash of the final state,
 * statistics, and the hooks of the demonstration. All of it works on MPI_COMM_WORLD, for C, C++ and Fortran alike.
 *
 * Command line of every application: PROGRAM INPUT [--no-checkpoint] [--json-stats FILE]
 * Environment: PERDURE_DEMO_PIDS=DIR           every rank writes its process id to DIR/rank-N.pid
 *              PERDURE_DEMO_KILL=RANK:STEP:MARKER  RANK kills itself at STEP unless the file MARKER exists */
#ifndef PERDURE_APPS_APP_H
#define PERDURE_APPS_APP_H

#include <stddef.h>
#include <stdint.h>

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app app_t;

/** Reads command line and input file; MPI must be initialised. On an error it ends the job with a message. [collective]
 */
app_t* app_begin(const char* name, int argc, char** argv);
/** Returns the number that the input file gives for `key`, or `otherwise`. Text that is no number ends the job. */
double app_number(app_t* app, const char* key, double otherwise);
long app_integer(app_t* app, const char* key, long otherwise);
/** Whether a checkpoint is due after this step; never with --no-checkpoint or checkpoint_every = 0. */
int app_checkpoint_due(const app_t* app, long step);
int app_checkpoints(const app_t* app);

int app_rank(const app_t* app);
int app_ranks(const app_t* app);
/** Returns this rank's share of `total` items, and its first item: blocks in rank order, whose sizes differ by at most
 * one. */
long app_share(long total, int ranks, int rank);
long app_first(long total, int ranks, int rank);

/** Call it at the start of every step: reports progress now and then, and kills this rank if the demonstration asks for
 * it. */
void app_step(app_t* app, long step, long steps);
/** Records the outcome of perdure_checkpoint(). An application that loses a checkpoint goes on. With wait_for_node = 1
 * in the input file it waits until the checkpoint survives the loss of a node. With wait_for_store = 1 it waits for the
 * store. Neither wait counts as blocking. [collective] */
void app_checkpointed(app_t* app, perdure_t* handle, perdure_status status, long step, double seconds);
/** Records the outcome of perdure_restore(PERDURE_LATEST) and returns the step to continue from: 0 if nothing was
 * stored. Any other failure ends the job, because the content of the regions is undefined then. */
long app_restored(app_t* app, perdure_t* handle, perdure_status status);
/** Ends the job with a message if `status` is not PERDURE_OK. */
void app_require(app_t* app, perdure_t* handle, perdure_status status, const char* what);

/** Adds `bytes` bytes of every rank to the FNV-1a hash, in rank order; it is valid on all ranks. [collective] */
void app_hash(app_t* app, const void* data, size_t bytes);
/** Waits for the flush of the last checkpoint, prints hash and statistics, writes --json-stats, and frees `app`.
 * `handle` may be NULL. [collective] */
void app_end(app_t* app, perdure_t* handle);

#ifdef __cplusplus
}
#endif
#endif
