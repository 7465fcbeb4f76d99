/** @file
 * Perdure for programs that do not want to say what a checkpoint is made of: they say what their data is, and around
 * each piece of code that changes it what that reads and writes. From that follows what has to be saved, and where a
 * checkpoint is smallest; a restart skips pieces up to there. C API; link with libperdure_track.
 * (Algorithms 1 and 2, and section 8, of "Automatic checkpointing of structured-mesh codes".)
 *
 *     perdure_track_array(track, &temperature, &rows, 1, &now);         // data, as in perdure_protect_global()
 *     perdure_track_array(track, &other, &rows_there, 1, &next);
 *     perdure_track_start(track);                                       // what is above every start does again
 *     while (change > 1e-6) {
 *       PERDURE_TRACK_REGION(track, "advance", perdure_reads(now), perdure_writes(next), perdure_gives(&change, 8)) {
 *         change = advance(plate);                                      // exchanges its halo itself
 *       }
 *       perdure_track_swap(track, now, next);
 *     }
 *
 * Conventions
 *  1. Those of perdure.h. After a failure every call on the tracker but perdure_track_close() returns the same error:
 *     what the program would compute from there on would be wrong.
 *  2. All ranks call the same, in the same order, with the same lists; what they own differs. Calls marked [collective]
 *     may wait for the others.
 *  3. From perdure_track_start() on, nothing changes the data but tracked regions, and values that leave them for the
 *     rest of the program (which decides how it goes on, is printed, is stored elsewhere) are given: perdure_gives().
 *     They are equal on all ranks. In a restart, skipped regions give what they gave before.
 *  4. A region reads what it says before it writes: what it writes first and reads then is no read. What is written is
 *     written as a whole: code that may leave elements out reads them.
 *  5. Copies of other ranks' elements (halos) are no data. A region that reads them fetches them itself, within itself.
 */
#ifndef PERDURE_PERDURE_TRACK_H
#define PERDURE_PERDURE_TRACK_H

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A program that is tracked; made by perdure_track_open(), ended by perdure_track_close(). */
typedef struct perdure_track perdure_track_t;

/** When and where checkpoints are made. What is 0 or NULL is as said. */
typedef struct perdure_track_policy {
  const char* name;        /**< of the checkpoints; NULL: "track" */
  double every_s;          /**< seconds; needs perdure_track_tick(). 0: not by time */
  uint64_t every_regions;  /**< so many regions; 0: not by their number */
  const char* before;      /**< only before regions of this name; NULL: where a checkpoint is smallest */
  const char* const* only; /**< names of the data that is saved, each as a whole, and watched to be enough; NULL: what
                              is needed */
  size_t only_count;       /**< of them */
  uint64_t learns; /**< regions that say where a checkpoint is smallest; up to eight times as many where these have not
                        two time steps; 0: 2048 */
  const char* report; /**< a file for `perdure track`; NULL: none */
  int on_signals;     /**< not 0: SIGTERM and SIGINT, on any rank, ask for a checkpoint at the next place, and end the
                           process as they would have when that is in the store; another one, a second later, ends it at
                         once. What nobody got to by     perdure_track_close() is forgotten; ignored signals stay so.
                         SIGUSR1     asks for a checkpoint. Needs perdure_track_tick() */
  double patience_s;  /**< seconds that ranks wait for each other in a tick, and before a checkpoint, a start and a
                           restore; then they get PERDURE_TIMEOUT, which names the region, who has come and who has
                           not; 0: 1800; less than 0: as long as it takes. Ranks that have come together wait within a
                           checkpoint as long as it takes */
} perdure_track_policy;

/** What a region does with data. */
typedef enum perdure_access_mode {
  PERDURE_READS = 1,        /**< some of it */
  PERDURE_WRITES = 2,       /**< all of it, whatever it was */
  PERDURE_READS_WRITES = 3, /**< some of it, and perhaps writes it */
  PERDURE_GIVES = 4,        /**< a value leaves the region for the program */
  PERDURE_TOUCHES_ALL = 5   /**< the region may read and write whatever data there is */
} perdure_access_mode;

/** Made by perdure_reads() and those below. */
typedef struct perdure_access {
  int mode;              /**< a perdure_access_mode */
  int data;              /**< number of an array */
  const uint64_t* begin; /**< index in the array, by dimension; NULL: all of it */
  const uint64_t* end;   /**< behind the last, by dimension */
  void* address;         /**< of a value that is given */
  size_t bytes;          /**< of it */
} perdure_access;

/** What checkpoints there were. */
typedef struct perdure_track_info {
  int restarted;          /**< 1: this run went on from a checkpoint */
  uint64_t goes_on_at;    /**< before that region, counted from the last fast forward, it did; swaps count */
  uint64_t regions;       /**< that were begun so far, those that were skipped among them */
  uint64_t checkpoints;   /**< of this run that are whole */
  uint64_t last_bytes;    /**< of the last one, of all ranks */
  uint64_t state_bytes;   /**< all data, of all ranks */
  double last_blocking_s; /**< how long the last one stopped this rank */
  char last_before[72];   /**< the region that it was made before; cut where its name is longer */
} perdure_track_info;

/** A tracker on a handle that has no protected regions, and gets none but by it; it ends before the handle. [local]
 *  On failure *out is NULL, and `message` (may be NULL) gets the text, cut to `message_bytes` bytes with the final 0.
 */
PERDURE_API perdure_status perdure_track_open(perdure_t* handle, const perdure_track_policy* policy,
                                              perdure_track_t** out, char* message, size_t message_bytes);

/** Declares an array, and what of it this rank owns, as in perdure_protect_global(): no element has two owners, none
 *  is without. [local] Before perdure_track_start(). It has a name of 1 to 56 characters, and 5 dimensions at most.
 *  *data gets its number. */
PERDURE_API perdure_status perdure_track_array(perdure_track_t* track, const perdure_array* array,
                                               const perdure_box* boxes, size_t count, int* data);
/** An array that is equal on all ranks, dense. [local] Regions read and write it as a whole. */
PERDURE_API perdure_status perdure_track_replicated(perdure_track_t* track, const perdure_array* array, void* address,
                                                    int* data);

/** From here on regions count. Where there is a checkpoint of the policy's name, all data is filled from it, and the
 * run goes on from there: regions up to it are skipped. [collective] PERDURE_MISMATCH: the checkpoint has other data.
 */
PERDURE_API perdure_status perdure_track_start(perdure_track_t* track);

/** Before a region; *run gets 1 when it is to be run, and then perdure_track_end() follows, and 0 when it is to be
 *  skipped. [collective] `name` and `where`, such as the function, tell it from others and stay the same from launch to
 *  launch. PERDURE_MISMATCH: a restart meets another region than the run that made the checkpoint did.
 *  PERDURE_INCOMPLETE: the checkpoint lacks what the region reads; it was given up, and the next start takes the one
 *  before. */
PERDURE_API perdure_status perdure_track_begin(perdure_track_t* track, const char* name, const char* where,
                                               const perdure_access* accesses, size_t count, int* run);
/** Behind a region that was run. [local] */
PERDURE_API perdure_status perdure_track_end(perdure_track_t* track);

/** Two arrays of one type, extents and division exchange their content by exchanging their memory, as the program does
 *  with its pointers, in a restart, too. [collective] */
PERDURE_API perdure_status perdure_track_swap(perdure_track_t* track, int data, int other);
/** What this rank owns of the array lies elsewhere from here on, with its content. [local] Not within a region. */
PERDURE_API perdure_status perdure_track_moved(perdure_track_t* track, int data, const perdure_box* boxes,
                                               size_t count);

/** Ranks agree on whether a checkpoint is due by time. [collective] One exchange, as perdure_any(); once in a time step
 *  is enough. PERDURE_MISMATCH: ranks have not begun the same regions; the text names the first that differs, and the
 *  ranks that began it. PERDURE_TIMEOUT: some ranks have not come (perdure_track_policy.patience_s). */
PERDURE_API perdure_status perdure_track_tick(perdure_track_t* track);
/** A checkpoint at the next place, whatever the policy says. [local] All ranks say so, at the same region. */
PERDURE_API perdure_status perdure_track_trigger(perdure_track_t* track);

/** The program could begin here by `bytes` bytes at `payload` alone, such as the number of its time step: regions
 * before need not be skipped one by one. [local] In a restart `payload` gets what the run that made the checkpoint said
 * last, *jumped is 1, and the program goes there; else *jumped is 0. Each array is where this run's declarations and
 * swaps have put it, whatever the step. Refused where a region has given a value before the first one. */
PERDURE_API perdure_status perdure_track_fast_forward(perdure_track_t* track, void* payload, size_t bytes, int* jumped);

/** What there was so far. [local] */
PERDURE_API perdure_status perdure_track_get_info(perdure_track_t* track, perdure_track_info* info);
/** Takes the oldest report of what went wrong with a checkpoint while the run went on. [local] As
 *  perdure_next_report(). */
PERDURE_API perdure_status perdure_track_next_report(perdure_track_t* track, char* text, size_t text_bytes);
/** Object, cause and remedy of the failure that ended the tracking; "" when there was none. Good until the tracker
 *  ends. [local] */
PERDURE_API const char* perdure_track_error_text(const perdure_track_t* track);

/** Ends the tracker and sets it to NULL; before the program takes its results out of its data. [local]
 *  PERDURE_MISMATCH: the run did not come to where it was to go on from, and its data is not what it computed. */
PERDURE_API perdure_status perdure_track_close(perdure_track_t** track, char* message, size_t message_bytes);

/** @name Lists of accesses, and regions around blocks of code
 *  @{ */
/** The region reads the array. */
static inline perdure_access perdure_reads(int data) {
  perdure_access made = {PERDURE_READS, data, NULL, NULL, NULL, 0};
  return made;
}
/** The region writes all of the array. */
static inline perdure_access perdure_writes(int data) {
  perdure_access made = {PERDURE_WRITES, data, NULL, NULL, NULL, 0};
  return made;
}
/** The region reads the array and writes it, or some of it. */
static inline perdure_access perdure_reads_writes(int data) {
  perdure_access made = {PERDURE_READS_WRITES, data, NULL, NULL, NULL, 0};
  return made;
}
/** An access to elements `begin` to before `end` alone. The indices have to live until the region begins. */
static inline perdure_access perdure_within(perdure_access access, const uint64_t* begin, const uint64_t* end) {
  access.begin = begin;
  access.end = end;
  return access;
}
/** A value of the program, equal on all ranks, that the region sets. */
static inline perdure_access perdure_gives(void* address, size_t bytes) {
  perdure_access made = {PERDURE_GIVES, 0, NULL, NULL, NULL, 0};
  made.address = address;
  made.bytes = bytes;
  return made;
}
/** Nobody knows what the region does: all data is read, and may be written. */
static inline perdure_access perdure_touches_all(void) {
  perdure_access made = {PERDURE_TOUCHES_ALL, 0, NULL, NULL, NULL, 0};
  return made;
}

/** What PERDURE_TRACK_REGION calls: perdure_track_begin() and perdure_track_end(), for code that cannot look at a
 * status there. Where they fail, the text goes to stderr and the process aborts. NULL: skip. Without a tracker (NULL)
 * every region is run, and nothing is tracked. */
PERDURE_API perdure_access* perdure_track_enter(perdure_track_t* track, const char* name, const char* file,
                                                const char* function, perdure_access* accesses, size_t count);
/** Always NULL. */
PERDURE_API perdure_access* perdure_track_leave(perdure_track_t* track);

/** PERDURE_TRACK_REGION(track, "name", accesses...) { code }, with one access at least: the code is run, or skipped. It
 * is left at its end only, and not by break, return or goto. */
#define PERDURE_TRACK_REGION(track, name, ...)                                                                     \
  for (perdure_access perdure_accesses_[] = {__VA_ARGS__},                                                         \
                      *perdure_run_ = perdure_track_enter(track, name, __FILE__, __func__, perdure_accesses_,      \
                                                          sizeof perdure_accesses_ / sizeof perdure_accesses_[0]); \
       perdure_run_ != NULL; perdure_run_ = perdure_track_leave(track))
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* PERDURE_PERDURE_TRACK_H */
