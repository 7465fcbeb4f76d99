/* What the example applications share and what is not about Perdure: input file, progress, hash of the final state,
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

/** Reads command line and input file; MPI must be initialised. [collective] Ends the job with a message when they are
 * wrong. */
app_t* app_begin(const char* name, int argc, char** argv);
/** The number the input file gives for `key`, or `otherwise`. A value that is no number ends the job. */
double app_number(app_t* app, const char* key, double otherwise);
long app_integer(app_t* app, const char* key, long otherwise);
/** A checkpoint is due after this step; never with --no-checkpoint or checkpoint_every = 0. */
int app_checkpoint_due(const app_t* app, long step);
int app_checkpoints(const app_t* app);

int app_rank(const app_t* app);
int app_ranks(const app_t* app);
/** This rank's share of `total` things, and the first of them: blocks in rank order, differing by one at most. */
long app_share(long total, int ranks, int rank);
long app_first(long total, int ranks, int rank);

/** To be called at the start of every step: says now and then how far it is, and dies when the demonstration wants
 * that. */
void app_step(app_t* app, long step, long steps);
/** Records the outcome of perdure_checkpoint(). An application that loses a checkpoint goes on. With wait_for_node = 1
 * in the input file it waits until the checkpoint survives the loss of a node, with wait_for_store = 1 until it is in
 * the store; neither counts as blocking. [collective] */
void app_checkpointed(app_t* app, perdure_t* handle, perdure_status status, long step, double seconds);
/** Records the outcome of perdure_restore(PERDURE_LATEST) and gives the step to go on from: 0 when nothing was stored.
 * Any other failure ends the job, because the content of the regions is undefined then. */
long app_restored(app_t* app, perdure_t* handle, perdure_status status);
/** Ends the job with a message when `status` is not PERDURE_OK. */
void app_require(app_t* app, perdure_t* handle, perdure_status status, const char* what);

/** FNV-1a over `bytes` bytes of every rank, continued from rank to rank in rank order; valid on all ranks. [collective]
 */
void app_hash(app_t* app, const void* data, size_t bytes);
/** Waits for the flush of the last checkpoint, prints hash and statistics, writes --json-stats, frees `app`.
 * [collective] `handle` may be NULL. */
void app_end(app_t* app, perdure_t* handle);

#ifdef __cplusplus
}
#endif
#endif
