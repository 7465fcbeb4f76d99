/** @file
 * This C API tracks programs that do not want to say what their checkpoints are made of. They declare their data, and
 * mark each piece of code with the data that it reads and writes. From that follows which data must be saved, and where
 * a checkpoint is smallest. A restart skips the pieces before that place. Link with libperdure_track. (Algorithms 1 and
 * 2, and section 8, of "Automatic checkpointing of structured-mesh codes".)
 *
 *      perdure_track_array(track, &temperature, &rows, 1, &now);         // data, as in perdure_protect_global()
 *      perdure_track_array(track, &other, &rows_there, 1, &next);
 *      perdure_track_start(track);                                       // every start runs the code above
 *      while (change > 1e-6) {
 *        PERDURE_TRACK_REGION(track, "advance", perdure_reads(now), perdure_writes(next), perdure_gives(&change, 8)) {
 *          change = advance(plate);                                      // exchanges its halo itself
 *        }
 *        perdure_track_swap(track, now, next);
 *      }
 *
 * Conventions
 *  1. Those of perdure.h hold. After a failure every call on the tracker but perdure_track_close() returns the same
 *     error: the program would compute wrong results from there on.
 *  2. All ranks call the same functions, in the same order, with the same lists; only the elements that they own
 *     differ. Calls marked [collective] may wait for the others.
 *  3. From perdure_track_start() on, only tracked regions change the data. Values that leave a region for the rest of
 *     the program (they decide how it goes on, are printed, are stored elsewhere) are given: perdure_gives(). They are
 *     equal on all ranks. In a restart, skipped regions give the same values again.
 *  4. A region's reads are the data that it reads before it writes them. Data that it writes first and reads then is no
 *     read. Data that it writes is written as a whole: code that may leave elements out reads them, too.
 *  5. Copies of other ranks' elements (halos) are not data. A region that reads them fetches them itself, within
 *     itself.
 */
#ifndef PERDURE_PERDURE_TRACK_H
#define PERDURE_PERDURE_TRACK_H

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A tracked program. perdure_track_open() makes it and perdure_track_close() ends it. */
typedef struct perdure_track perdure_track_t;

/** Says when and where checkpoints are made. Each member says what 0 or NULL means. */
typedef struct perdure_track_policy {
  const char* name;       /**< name of the checkpoints; NULL: "track" */
  double every_s;         /**< seconds between checkpoints; needs perdure_track_tick(). 0: not by time */
  uint64_t every_regions; /**< regions between checkpoints; 0: not by their number */
  const char* before; /**< make checkpoints only before regions of this name; NULL: where a checkpoint is smallest */
  const char* const* only; /**< names of the data to save, each as a whole; the tracker watches that they suffice; NULL:
                              the needed data */
  size_t only_count;       /**< number of names in `only` */
  uint64_t learns;    /**< number of regions from which the tracker learns where a checkpoint is smallest. Up to eight
                         times as many if these have not two time steps; 0: 2048 */
  const char* report; /**< file for `perdure track`; NULL: none */
  int on_signals; /**< not 0: SIGTERM and SIGINT, on any rank, ask for a checkpoint at the next place. Once that is in
                     the store, they end the process as they would have without Perdure. Another one, a second later,
                     ends it at once. Requests that are still open at perdure_track_close() are forgotten; ignored
                     signals stay ignored. SIGUSR1 asks for a checkpoint. Needs perdure_track_tick() */
  double patience_s; /**< seconds that ranks wait for each other in a tick, and before a checkpoint, a start and a
                        restore. Then they get PERDURE_TIMEOUT, which names the region, and the ranks that have come or
                        not. 0: 1800; less than 0: as long as it takes. Ranks that have come together wait within a
                        checkpoint as long as it takes */
} perdure_track_policy;

/** Says how a region uses data. */
typedef enum perdure_access_mode {
  PERDURE_READS = 1,        /**< it reads some of the data */
  PERDURE_WRITES = 2,       /**< it writes all of the data, whatever that was */
  PERDURE_READS_WRITES = 3, /**< it reads some of the data, and perhaps writes it */
  PERDURE_GIVES = 4,        /**< it gives a value to the program */
  PERDURE_TOUCHES_ALL = 5   /**< it may read and write all data there is */
} perdure_access_mode;

/** One access of a region; perdure_reads() and the functions below make it. */
typedef struct perdure_access {
  int mode;              /**< a perdure_access_mode */
  int data;              /**< number of an array */
  const uint64_t* begin; /**< index in the array, by dimension; NULL: all of it */
  const uint64_t* end;   /**< behind the last, by dimension */
  void* address;         /**< address of a value that is given */
  size_t bytes;          /**< bytes of that value */
} perdure_access;

/** Counts the checkpoints of a tracked program. */
typedef struct perdure_track_info {
  int restarted;          /**< 1: this run went on from a checkpoint */
  uint64_t goes_on_at;    /**< the region before which it went on, counted from the last fast forward; swaps count */
  uint64_t regions;       /**< regions begun so far, including the skipped ones */
  uint64_t checkpoints;   /**< complete checkpoints of this run */
  uint64_t last_bytes;    /**< bytes of the last checkpoint, of all ranks */
  uint64_t state_bytes;   /**< bytes of all data, of all ranks */
  double last_blocking_s; /**< seconds that the last checkpoint stopped this rank */
  char last_before[72];   /**< region before which the last one was made; its name is cut if it is longer */
} perdure_track_info;

/** Makes a tracker on a handle that has no protected regions; only the tracker may protect any. The tracker ends before
 * the handle. [local] On failure *out is NULL, and `message` (may be NULL) gets the text, cut to `message_bytes` bytes
 * with the final 0.
 */
PERDURE_API perdure_status perdure_track_open(perdure_t* handle, const perdure_track_policy* policy,
                                              perdure_track_t** out, char* message, size_t message_bytes);

/** Declares an array and this rank's elements of it, as in perdure_protect_global(): each element has exactly one
 * owner. [local] The call comes before perdure_track_start(). The array has a name of 1 to 56 characters, and 5
 * dimensions at most. *data gets its number. */
PERDURE_API perdure_status perdure_track_array(perdure_track_t* track, const perdure_array* array,
                                               const perdure_box* boxes, size_t count, int* data);
/** Declares an array that is equal on all ranks, dense. [local] Regions read and write it as a whole. */
PERDURE_API perdure_status perdure_track_replicated(perdure_track_t* track, const perdure_array* array, void* address,
                                                    int* data);

/** Begins the tracking: regions count from here on. If the policy's name has a checkpoint, this fills all data from it,
 * and skips the regions up to it. [collective] PERDURE_MISMATCH: the checkpoint has other
 * data.
 */
PERDURE_API perdure_status perdure_track_start(perdure_track_t* track);

/** Begins a region. *run gets 1 when the region is to be run; perdure_track_end() must then follow. It gets 0 when the
 * region is to be skipped. [collective] `name` and `where`, such as the function, tell it from others and stay the same
 * from launch to launch. PERDURE_MISMATCH: a restart meets another region than the run that made the checkpoint did.
 * PERDURE_INCOMPLETE: the checkpoint lacks data that the region reads. It was given up, and the next start takes the
 * one before. */
PERDURE_API perdure_status perdure_track_begin(perdure_track_t* track, const char* name, const char* where,
                                               const perdure_access* accesses, size_t count, int* run);
/** Ends a region that was run. [local] */
PERDURE_API perdure_status perdure_track_end(perdure_track_t* track);

/** Swaps two arrays of one type, extents and division by exchanging their memory, as the program does with its
 * pointers. [collective] The program calls it in a restart, too. */
PERDURE_API perdure_status perdure_track_swap(perdure_track_t* track, int data, int other);
/** Tells the tracker that this rank's elements of the array lie elsewhere from here on, with their content. [local] Not
 * within a region. */
PERDURE_API perdure_status perdure_track_moved(perdure_track_t* track, int data, const perdure_box* boxes,
                                               size_t count);

/** Lets ranks agree on whether a checkpoint is due by time. [collective] Costs one exchange, as perdure_any(); once in
 * a time step is enough. PERDURE_MISMATCH: ranks have not begun the same regions. The text names the first region that
 * differs, and the ranks that began it. PERDURE_TIMEOUT: some ranks have not come (perdure_track_policy.patience_s). */
PERDURE_API perdure_status perdure_track_tick(perdure_track_t* track);
/** Asks for a checkpoint at the next place, whatever the policy says. [local] All ranks ask, at the same region. */
PERDURE_API perdure_status perdure_track_trigger(perdure_track_t* track);

/** Says that the program could begin here from `bytes` bytes at `payload` alone, such as the number of its time step.
 * [local] A restart then need not skip the regions before one by one. In a restart, `payload` gets the last content
 * that the run of the checkpoint passed. *jumped is then 1, and the program goes to that place; else *jumped is 0. Each
 * array is where this run's declarations and swaps have put it, whatever the step. Refused if a region has given a
 * value before the first call. */
PERDURE_API perdure_status perdure_track_fast_forward(perdure_track_t* track, void* payload, size_t bytes, int* jumped);

/** Gives the counts of this run so far. [local] */
PERDURE_API perdure_status perdure_track_get_info(perdure_track_t* track, perdure_track_info* info);
/** Takes the oldest report of a checkpoint that went wrong while the run went on. [local] As perdure_next_report(). */
PERDURE_API perdure_status perdure_track_next_report(perdure_track_t* track, char* text, size_t text_bytes);
/** Gives object, cause and remedy of the failure that ended the tracking; "" when there was none. The text is valid
 * until the tracker ends. [local] */
PERDURE_API const char* perdure_track_error_text(const perdure_track_t* track);

/** Ends the tracker and sets it to NULL, before the program takes its results out of its data. [local]
 * PERDURE_MISMATCH: the restart never reached the place from which it was to go on, so its data is not the program's
 * result. */
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
/** Limits an access to elements `begin` to before `end`. The indices have to live until the region begins. */
static inline perdure_access perdure_within(perdure_access access, const uint64_t* begin, const uint64_t* end) {
  access.begin = begin;
  access.end = end;
  return access;
}
/** The region sets a value of the program, which is equal on all ranks. */
static inline perdure_access perdure_gives(void* address, size_t bytes) {
  perdure_access made = {PERDURE_GIVES, 0, NULL, NULL, NULL, 0};
  made.address = address;
  made.bytes = bytes;
  return made;
}
/** The region's accesses are unknown: it reads all data, and may write all data. */
static inline perdure_access perdure_touches_all(void) {
  perdure_access made = {PERDURE_TOUCHES_ALL, 0, NULL, NULL, NULL, 0};
  return made;
}

/** PERDURE_TRACK_REGION calls this: perdure_track_begin() and perdure_track_end(), for code that cannot look at a
 * status there. If they fail, the text goes to stderr and the process aborts. NULL: skip the region. Without a tracker
 * (NULL) every region is run, and nothing is tracked. */
PERDURE_API perdure_access* perdure_track_enter(perdure_track_t* track, const char* name, const char* file,
                                                const char* function, perdure_access* accesses, size_t count);
/** Ends the region of perdure_track_enter(). Always returns NULL. */
PERDURE_API perdure_access* perdure_track_leave(perdure_track_t* track);

/** PERDURE_TRACK_REGION(track, "name", accesses...) { code } runs the code, or skips it in a restart. It needs at least
 * one access. The code leaves the block at its end only, and not by break, return or goto. */
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
