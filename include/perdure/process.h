/** @file
 * This C API captures and resumes processes as they run, with their threads. It does the work of `perdure capture`,
 * `perdure resume` and `perdure inspect` for programs; a program can also capture itself. Link with libperdure_process.
 * See docs/process.md.
 *
 *      int came_back = 0;
 *      int64_t version = 0;
 *      if (perdure_capture_self("simulation", NULL, &version, &came_back, message, sizeof message) != PERDURE_OK)
 *        fprintf(stderr, "%s\n", message);  // and it goes on
 *      else if (came_back)
 *        reopen_what_was_left_out();        // this is the process that was resumed
 *
 * Conventions
 *  1. Those of perdure.h hold: every function returns a perdure_status. Error texts go to `message` (may be NULL), cut
 *     to `message_bytes` bytes with the final 0. Other arguments may be NULL only if it is said.
 *  2. `perdure-process`, a program of Perdure that these functions start, does all the work. It lies beside the
 *     library. The calling process gets no threads, no memory, no descriptors and no engine. The functions wait for
 *     that program, and it sends no SIGCHLD.
 *  3. Any thread may call; calls of one process follow each other. The functions read the environment meanwhile.
 */
#ifndef PERDURE_PROCESS_H
#define PERDURE_PROCESS_H

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Says how a process is captured. Each member says what 0 or NULL means. */
typedef struct perdure_capture_choices {
  const char* options;  /**< options as in perdure_open(): store.path and others; NULL: as configured */
  const int* without;   /**< descriptors to leave out; they lead to /dev/null after a resume; NULL: none */
  size_t without_count; /**< number of descriptors in `without` */
  int hash_files;       /**< not 0: open files are hashed, so that a resume can tell whether they changed */
  int pre_copy;         /**< not 0: pages are copied while the process runs; it stops only for the pages that it writes
                           meanwhile */
  int stop;             /**< not 0: the process stands still until the image is in the store, and is killed then */
  int increments; /**< 1 to 16: the image borrows unchanged pages from at most so many earlier images of the name; 0:
                     all pages are stored */
} perdure_capture_choices;

/** Says how a process is brought back. Each member says what 0 or NULL means. */
typedef struct perdure_resume_choices {
  const char* options;  /**< options as in perdure_open(); NULL: as configured */
  const char* affinity; /**< keep, cores, pages, none or reset; NULL: as configured */
  int cut_back_files; /**< not 0: files that were open for writing, and that have grown, are cut to their old size. The
                         cut-off part is kept beside each as FILE.cut-VERSION */
  int again;          /**< not 0: resumes although another process that was brought back of that name runs */
  int name_space;     /**< not 0: uses a name space of its own for its numbers, even if they are free without it */
  int of_others; /**< not 0: resumes although its files belong to another user than the caller or root, or others may
                    write there. Code that these put there then runs as the caller. 0: such files are PERDURE_PERMISSION
                  */
} perdure_resume_choices;

/** Captures the calling process, with all of its threads, as the next version of `name`. It returns once that is in the
 * store. Like fork(), it returns twice, with PERDURE_OK both times. In the captured process *came_back is 0, and
 * *version (may be NULL) is the number of the image. In a process resumed from that image *came_back is 1, and *version
 * is -1. Other threads stand still only for the copy. With `stop` the call does not return here. PERDURE_UNSUPPORTED
 * names all obstacles. Whatever fails, the process goes on as it was. `choices`: NULL: none. */
PERDURE_API perdure_status perdure_capture_self(const char* name, const perdure_capture_choices* choices,
                                                int64_t* version, int* came_back, char* message, size_t message_bytes);

/** Captures another process, which goes on, or with `stop` is ended. *version may be NULL. PERDURE_NOT_FOUND: no such
 * process. PERDURE_PERMISSION: this user may not trace it. */
PERDURE_API perdure_status perdure_capture_process(int process, const char* name,
                                                   const perdure_capture_choices* choices, int64_t* version,
                                                   char* message, size_t message_bytes);

/** Brings `version` of `name` back, or the newest complete one (PERDURE_LATEST). It runs when this returns, and
 * *process is its number. It is not a child of the caller. A caller that wants to wait for its end first makes itself a
 * subreaper (prctl, PR_SET_CHILD_SUBREAPER). A user who may not choose numbers gets it in a name space of its own,
 * where it has its old number. PERDURE_EXISTS: its number is taken. PERDURE_BUSY: one of that name runs, on this
 * machine or another one. After a failure nothing of the image has run. `choices`: NULL: none. */
PERDURE_API perdure_status perdure_resume_process(const char* name, int64_t version,
                                                  const perdure_resume_choices* choices, int* process, char* message,
                                                  size_t message_bytes);

/** Lists the obstacles to a capture of `process`, which may be the calling one and is not touched. Each gets one line,
 * with what to do; the text is empty if the process can be captured. The text is cut to `text_bytes` bytes with the
 * final 0. `choices`: NULL: none. */
PERDURE_API perdure_status perdure_process_obstacles(int process, const perdure_capture_choices* choices, char* text,
                                                     size_t text_bytes, char* message, size_t message_bytes);

#ifdef __cplusplus
}
#endif
#endif
