/** @file
 * Perdure for processes that are captured as they run, with their threads: what `perdure capture`, `perdure resume` and
 * `perdure inspect` do, for programs; and capturing oneself. C API; link with libperdure_process. See docs/process.md.
 *
 *     int came_back = 0;
 *     int64_t version = 0;
 *     if (perdure_capture_self("simulation", NULL, &version, &came_back, message, sizeof message) != PERDURE_OK)
 *       fprintf(stderr, "%s\n", message);  // and it goes on
 *     else if (came_back)
 *       reopen_what_was_left_out();        // this is the process that was resumed
 *
 * Conventions
 *  1. Those of perdure.h: every function returns a perdure_status; texts go to `message` (may be NULL), cut to
 *     `message_bytes` bytes with the final 0. What is not about errors may be NULL where it is said.
 *  2. All work is done by a program of Perdure that these functions start, `perdure-process`, beside the library: the
 *     calling process gets no threads, no memory, no descriptors and no engine. It is waited for, and it sends no
 * SIGCHLD.
 *  3. Any thread may call; calls of one process follow each other. The environment is read meanwhile.
 */
#ifndef PERDURE_PROCESS_H
#define PERDURE_PROCESS_H

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a process is captured. What is 0 or NULL is as said. */
typedef struct perdure_capture_choices {
  const char* options;  /**< as in perdure_open(): store.path and others; NULL: as configured */
  const int* without;   /**< descriptors that are left out and lead to /dev/null after a resume; NULL: none */
  size_t without_count; /**< of them */
  int hash_files;       /**< not 0: open files are hashed, so that a resume can tell whether they changed */
  int pre_copy;         /**< not 0: pages are copied while it runs; it stands still for what it writes meanwhile */
  int stop;             /**< not 0: it stands still until the image is in the store, and is killed then */
  int increments; /**< 1 to 16: what so many earlier images of the name have at most is not stored again; 0: all is */
} perdure_capture_choices;

/** How a process is brought back. What is 0 or NULL is as said. */
typedef struct perdure_resume_choices {
  const char* options;  /**< as in perdure_open(); NULL: as configured */
  const char* affinity; /**< keep, cores, pages, none or reset; NULL: as configured */
  int cut_back_files;   /**< not 0: files that it had open for writing, and that have grown, get the size they had;
                             what is cut off is kept beside each as FILE.cut-VERSION */
  int again;            /**< not 0: although another process that was brought back of that name runs */
  int name_space; /**< not 0: its numbers are those of a name space of its own, although they may be had without */
  int of_others;  /**< not 0: although its files belong to another user than the caller or root, or others may write
                       where they are: what these put there then runs as the caller. Else PERDURE_PERMISSION */
} perdure_resume_choices;

/** Captures the calling process, with all of its threads, as the next version of `name`, and returns when that is in
 * the store. It returns twice, as fork() does, with PERDURE_OK both times: here, where *came_back is 0 and *version
 * (may be NULL) the number of the image; and in whatever is resumed from that image, where *came_back is 1 and *version
 * is -1. Other threads stand still for the copy only. With `stop` it does not return here. PERDURE_UNSUPPORTED names
 * all that stands in the way. Whatever fails, the process goes on as it was. `choices`: NULL: none. */
PERDURE_API perdure_status perdure_capture_self(const char* name, const perdure_capture_choices* choices,
                                                int64_t* version, int* came_back, char* message, size_t message_bytes);

/** The same for another process, which goes on, or with `stop` is ended. *version may be NULL. PERDURE_NOT_FOUND: no
 * such process; PERDURE_PERMISSION: it may not be traced by this user. */
PERDURE_API perdure_status perdure_capture_process(int process, const char* name,
                                                   const perdure_capture_choices* choices, int64_t* version,
                                                   char* message, size_t message_bytes);

/** Brings `version` of `name` back, or the newest whole one (PERDURE_LATEST): it runs when this returns, and *process
 * is its number. It is no child of the caller: where that wants to wait for its end, it makes itself its parent first
 *  (prctl, PR_SET_CHILD_SUBREAPER). A user who may not choose numbers gets it in a name space of its own, where it has
 *  the number that it had. PERDURE_EXISTS: its number is taken; PERDURE_BUSY: one of that name runs, on this
 *  machine or another one. When it fails nothing of the image has run.
 *  `choices`: NULL: none. */
PERDURE_API perdure_status perdure_resume_process(const char* name, int64_t version,
                                                  const perdure_resume_choices* choices, int* process, char* message,
                                                  size_t message_bytes);

/** What stands in the way of a capture of `process`, which may be the calling one and is not touched: one line each,
 * with what to do; nothing if it can be captured. The text is cut to `text_bytes` bytes with the final 0. `choices`:
 * NULL: none. */
PERDURE_API perdure_status perdure_process_obstacles(int process, const perdure_capture_choices* choices, char* text,
                                                     size_t text_bytes, char* message, size_t message_bytes);

#ifdef __cplusplus
}
#endif
#endif
