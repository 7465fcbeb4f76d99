/** @file
 * Perdure: the resilience runtime for parallel programs. C API.
 *
 * Conventions
 *  1. Every function returns a perdure_status: PERDURE_OK (0), or what went wrong. perdure_error_text() gives the
 *     object, the cause and the remedy of the last failure on that handle. The library never exits, aborts or prints
 *     (but for what the option `messages` asks for).
 *  2. A handle is made by perdure_open*() and ended by perdure_close(). MPI_Finalize (perdure_mpi.h) and the end of the
 *     process, by return from main() or exit(), close what is open by then. Any number of handles may be open at once.
 * A handle serialises the calls made on it, so any thread may call; calls marked [collective] must be made by every
 * rank of the handle's communicator, in the same order, and with MPI from a thread that may call MPI. Calls marked
 * [local] never communicate with other ranks. Where a call's own thread is within another one on the same handle, such
 * as in a function of its communicator, it is PERDURE_BUSY; so it is at the end of the process, in destructors of
 * global objects, where another thread's call goes on.
 *  3. Sizes are bytes unless the name says otherwise; times are seconds. Versions are non-negative.
 *  4. Pointers given to perdure_protect() must stay valid until perdure_unprotect(), re-protect or perdure_close(), but
 *     for regions that follow their owner (perdure_follow()).
 *     Strings and structures given to any other call are not kept. NULL is refused with PERDURE_INVALID_ARGUMENT.
 *  5. Names of checkpoints: 1 to 128 of the characters A-Z a-z 0-9 . _ -, beginning with a letter or a digit.
 *  6. After fork(), the child may not use handles of the parent: its calls return PERDURE_WRONG_PROCESS.
 */
#ifndef PERDURE_PERDURE_H
#define PERDURE_PERDURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/** Marks what the library exports. */
#define PERDURE_API __attribute__((visibility("default")))
#else
/** Marks what the library exports. */
#define PERDURE_API
#endif

#define PERDURE_VERSION_MAJOR 0 /**< of these headers; perdure_version() tells the library's */
#define PERDURE_VERSION_MINOR 1 /**< of these headers */
#define PERDURE_VERSION_PATCH 0 /**< of these headers */

/** Outcome of a call. Values never change their meaning. */
typedef enum perdure_status {
  PERDURE_OK = 0,               /**< success */
  PERDURE_INVALID_ARGUMENT = 1, /**< a wrong argument; nothing was done */
  PERDURE_NOT_FOUND = 2,        /**< no such thing; of a restore: of that name there is nothing, anywhere */
  PERDURE_EXISTS = 3,           /**< this version is already taken */
  PERDURE_MISMATCH = 4,         /**< ranks disagree, regions are not those that were stored (one more, one less, of
                                     another size, type or shape), or a name has other versions than that one */
  PERDURE_CORRUPT = 5,          /**< data that failed verification; it is not used, and set aside when a second reader
                                     saw the same */
  PERDURE_NO_SPACE = 6,    /**< a tier, the store or memory is full, or a quota or a limit of the system is reached */
  PERDURE_IO = 7,          /**< a device or file system failed */
  PERDURE_PERMISSION = 8,  /**< access denied, or a read-only file system */
  PERDURE_UNAVAILABLE = 9, /**< the engine or the store cannot be reached at the moment */
  PERDURE_TIMEOUT = 10,    /**< the time given to the call ran out */
  PERDURE_CLOSED = 11,     /**< the handle was closed */
  PERDURE_WRONG_PROCESS = 12, /**< the handle belongs to the process that forked this one */
  PERDURE_UNSUPPORTED = 13,   /**< written by a newer Perdure, or not possible on this system */
  PERDURE_PEER_FAILED = 14,   /**< another rank failed; its own error says why */
  PERDURE_BUSY = 15,          /**< somebody else holds it */
  PERDURE_INTERNAL = 16,      /**< a defect of Perdure; please report it */
  PERDURE_INCOMPLETE = 17     /**< there are checkpoints of that name, and parts of all of them are missing */
} perdure_status;

/** How much a checkpoint survives by now; each level includes those before it. */
typedef enum perdure_level {
  PERDURE_LEVEL_NONE = 0,    /**< nothing that could be restored */
  PERDURE_LEVEL_PROCESS = 1, /**< the death of every process of the application and of the engines */
  PERDURE_LEVEL_NODE = 2,    /**< the loss of a node */
  PERDURE_LEVEL_STORE = 3    /**< the loss of everything but the store */
} perdure_level;

/** Why a checkpoint is due (perdure_due()): bits of one number, to which later versions add others. */
typedef enum perdure_due_reason {
  PERDURE_DUE_SIGNAL = 1, /**< a signal asks for it (option `signals`) */
  PERDURE_DUE_HALT = 2,   /**< `perdure halt NAME` does, of a name that this handle has used */
  PERDURE_DUE_END = 128   /**< the program is to end after it: SIGTERM, SIGINT, or halt */
} perdure_due_reason;

/** In place of a version: the newest that every rank can restore. Newest is what was begun last, not the highest
 * number: a program that restores an older version and checkpoints on from there begins a new branch, and so does one
 * that restores nothing of a name that has versions. Numbers are free on a new branch. What was left stays, as branch
 * NAME\@BRANCH of `perdure ls`; PERDURE_LATEST and plain numbers mean the current branch and what that went on from,
 * and perdure_restore_branch() takes the others. */
#define PERDURE_LATEST ((int64_t)-1)
/** In place of a timeout: as long as it takes. */
#define PERDURE_FOREVER (-1.0)

/** An open Perdure; made by perdure_open*(), ended by perdure_close(). */
typedef struct perdure_handle perdure_t;

/** What the library needs of a group of ranks when they are not MPI's (perdure_mpi.h makes one from MPI_COMM).
 *  Every function returns 0, or non-zero when the group is broken. They are called on the calling thread only, within
 *  [collective] calls. The structure is copied; `context` must live until the handle is closed. */
typedef struct perdure_communicator {
  int rank;      /**< of this process; from 0 to size - 1 */
  int size;      /**< the number of ranks */
  void* context; /**< given to every function */
  /** Returns when all ranks have called it. */
  int (*barrier)(void* context);
  /** Element-wise over `count` numbers, in place; `operation`: 0 minimum, 1 maximum, 2 sum. */
  int (*allreduce)(void* context, uint64_t* values, size_t count, int operation);
  /** Every rank gives `bytes` bytes (the same number everywhere); `all` gets size*bytes, in rank order. */
  int (*allgather)(void* context, const void* mine, size_t bytes, void* all);
  /** `data` of rank `root` is copied to `data` of all others; `bytes` is the same everywhere. */
  int (*broadcast)(void* context, void* data, size_t bytes, int root);
  /** Called once when the handle is closed; may be NULL. */
  void (*release)(void* context);
} perdure_communicator;

/** What one region looks like in a stored checkpoint. */
typedef struct perdure_region_size {
  uint64_t element_bytes; /**< bytes of one element */
  uint64_t count;         /**< elements of this rank, in all dimensions together */
} perdure_region_size;

/** The background work of this rank's node and what this handle did so far. */
typedef struct perdure_progress {
  uint64_t bytes_pending;    /**< captured, not yet at the store */
  uint64_t bytes_flushed;    /**< written to the store since the engine started */
  uint64_t versions_pending; /**< checkpoints not yet at the store */
  uint64_t versions_failed;  /**< checkpoints whose flush was given up; they are still on the node */
  double flush_bytes_per_s;  /**< moving average of the observed flush bandwidth; 0 before the first flush */
  double last_blocking_s;    /**< how long the last checkpoint stopped this rank */
  double last_flush_s;       /**< how long the last flush of this node took */
  double last_restore_s;     /**< how long the last restore took on this rank */
  uint64_t last_bytes;       /**< bytes of the last checkpoint of this rank */
  int64_t restored_version;  /**< version of the last restore, or -1 */
  int restore_source;        /**< where this rank's data came from: 0 nowhere, 1 tier, 2 store, 3 both; +4: from other
                                  nodes into the tier */
} perdure_progress;

/** Opens for a single process, without MPI. [collective over this process alone] PERDURE_INVALID_ARGUMENT in one of
 *  several ranks that mpirun or srun started, unless the option `ranks.alone` says that each is a program by itself.
 *  `options`: "key=value" settings separated by newlines or semicolons, or NULL; see docs/configuration.md.
 *  Environment and configuration file override them. On failure *out is NULL, and `message` (may be NULL) gets the
 *  text, cut to `message_bytes` bytes with the final 0. */
PERDURE_API perdure_status perdure_open(const char* options, perdure_t** out, char* message, size_t message_bytes);

/** Opens for a group of ranks. [collective] `options` must be the same on all ranks. Everything else is as in
 *  perdure_open(); when it fails on one rank, it fails on all. */
PERDURE_API perdure_status perdure_open_communicator(const perdure_communicator* communicator, const char* options,
                                                     perdure_t** out, char* message, size_t message_bytes);

/** Registers memory: `count` elements of `element_bytes` bytes at `address`. [local]
 *  Protecting an id again replaces address and size (re-protect). `count` may be 0, then `address` may be NULL.
 *  Overlapping regions are refused. Ids are chosen by the caller, non-negative. A rank may have 1,000,000 regions; what
 * a call costs grows with the logarithm of their number, what a checkpoint costs with their number. The engine hears of
 *  them in the next collective call. */
PERDURE_API perdure_status perdure_protect(perdure_t* handle, int id, void* address, size_t element_bytes,
                                           size_t count);
/** Forgets a region; its memory may be freed. [local] Waits where a checkpoint still copies it. PERDURE_NOT_FOUND when
 * the id is not protected. */
PERDURE_API perdure_status perdure_unprotect(perdure_t* handle, int id);

/** Registers the calling thread: it is number `id` of this rank. [local]
 *  Checkpoints note on which processors their rank's registered threads may run at that moment, and a restore lets
 * threads of the same numbers run there again, before it fills any region: on another machine, near the pages that they
 * were near (docs/process.md, Affinity). Registering a number again replaces it; a thread that has ended is forgotten.
 *  What is noted goes with the regions: a rank without any notes nothing. Numbers are not negative, and at most 4096 of
 *  a rank. Option `affinity` turns it off. */
PERDURE_API perdure_status perdure_protect_thread(perdure_t* handle, int id);

/** What people call a region that is registered already, its unit and what they have to know of it. [local]
 *  Each may be NULL. A name has 1 to 64 of the characters A-Z a-z 0-9 . _ -, beginning with a letter; messages and the
 *  command line show it. Registering the same id again keeps it. Arrays (below) say theirs when they are declared. */
PERDURE_API perdure_status perdure_describe(perdure_t* handle, int id, const char* name, const char* unit,
                                            const char* description);

/** What the elements of a region are that is registered already by perdure_protect(). [local]
 *  `type` as in perdure_array below; NULL: not known. `extents` are `dimensions` numbers, at most 8, the last dimension
 *  the fastest, whose product is the number of elements; NULL: not known. A restore compares both where the stored
 *  region has them, too, but bytes (`v8`) say nothing of what they are; the command line shows them. Registering the
 *  same id again keeps what still holds. PERDURE_INVALID_ARGUMENT where they do not describe the region. */
PERDURE_API perdure_status perdure_describe_elements(perdure_t* handle, int id, const char* type, int dimensions,
                                                     const uint64_t* extents);

/** @name Memory that moves
 *  A region, or part of an array, can follow its owner, such as a container that the program swaps, resizes or makes
 * anew: then the owner says at each checkpoint and restore where its elements are.
 *  @{ */
/** Says where the elements of an owner are: their address and how many there are, of the size that the region's have.
 *  Returns 0, or what else it likes where it cannot say: then the call fails. It runs on the calling thread, within
 *  perdure_follow(), perdure_checkpoint(), perdure_restore(), perdure_restore_branch() and perdure_restore_regions(),
 *  and where other memory is protected that the region had; it must not call Perdure with the same handle
 *  (PERDURE_BUSY), nor let an exception out. */
typedef int (*perdure_locate)(void* owner, void** address, size_t* count);
/** A region that is registered already follows `owner`, which has its elements now, or more than these. [local]
 *  `owner` is handed to `locate`, which is asked at once, and has to be there until perdure_unprotect(), re-protect,
 * which both end the following, or perdure_close(). Who has moved is captured and filled where it is, also where two
 * have swapped. What is all of its owner's elements may have another number of them, if it is memory of one rank, or
 * rows of a list. Refused at the checkpoint or restore, with PERDURE_INVALID_ARGUMENT on this rank and
 * PERDURE_PEER_FAILED on all others, before anything is touched: another number of elements where the region is a part
 * of them, or of an array that ranks have together; and no elements where there were some, as nobody can tell a
 * container that was cleared from one whose elements were moved to another. Protect such a region again.
 * PERDURE_NOT_FOUND when the id is not protected. */
PERDURE_API perdure_status perdure_follow(perdure_t* handle, int id, perdure_locate locate, void* owner);
/** This rank's next perdure_checkpoint(), perdure_restore(), perdure_restore_branch() or perdure_restore_regions()
 * fails with PERDURE_INVALID_ARGUMENT about region `id` (negative: about none in particular), for the reason `why`, and
 * on all others with PERDURE_PEER_FAILED. [local] It is for that call alone, also where that fails for another reason.
 * For who looks for regions before the call, finds one nowhere, and must not leave the other ranks waiting. */
PERDURE_API perdure_status perdure_refuse_next(perdure_t* handle, int id, const char* why);
/** @} */

/** @name A program that has changed since its checkpoints
 *  A restore finds a region by its name, whatever its number was; numbers count where the program or the checkpoint has
 *  no name for it, and among several regions of one name. What is protected has to be stored, what is stored has to be
 *  protected, with the same size, and with the same type and shape where both are known. Else the restore ends with
 *  PERDURE_MISMATCH on all ranks, with one text that names all that differs, and touches nothing. So codes grow: say
 *  what has changed before the restore. It holds for all that this handle restores.
 *  @{ */
/** Whether a restore may find that a region is not stored. */
typedef enum perdure_presence {
  PERDURE_REQUIRED = 0, /**< it is a PERDURE_MISMATCH then; as long as nothing else is said */
  PERDURE_OPTIONAL = 1  /**< it stays as it is then, and perdure_was_restored() says so */
} perdure_presence;
/** Of a region, or part of an array, that is registered already. [local] Registering the same id again keeps it. Where
 *  arrays are restored on another number of ranks, optional memory of one rank is absent. PERDURE_NOT_FOUND when the id
 *  is not protected. */
PERDURE_API perdure_status perdure_set_presence(perdure_t* handle, int id, perdure_presence presence);
/** Whether the last restore that succeeded filled a region: *restored gets 1, or 0 where it was absent, or not asked
 *  for. [local] Registering the same id again keeps it. PERDURE_NOT_FOUND when the id is not protected. */
PERDURE_API perdure_status perdure_was_restored(perdure_t* handle, int id, int* restored);
/** A stored region that was called `before` is the protected one that is called `now`. [local] Of a region without a
 *  name this is its number ("5"). It may stay in the program: checkpoints that have the new name are not concerned.
 *  Said again of the same `before`, it replaces. PERDURE_INVALID_ARGUMENT where names would go round in a circle. */
PERDURE_API perdure_status perdure_renamed(perdure_t* handle, const char* before, const char* now);
/** A stored region that is called `region` is not needed any more: that the program does not protect it is no mistake.
 *  [local] Of one without a name this is its number ("5"); "*": of all that the program does not protect. */
PERDURE_API perdure_status perdure_pass_over(perdure_t* handle, const char* region);
/** @} */

/** @name Arrays that ranks have together
 *  A region can be a part of an array: then a checkpoint comes back on any number of ranks, divided in any way. All
 * ranks declare the same arrays, under the same ids, at the latest before the next checkpoint; a rank that has nothing
 * of one declares it without boxes. Each element has an owner. Where it has several, they have the same value, bit for
 * bit, and the lowest rank stores it; boxes of one rank do not overlap. What ranks say differently, the first elements
 * that no rank has, or that two have with other values, is refused at the checkpoint, with the same error on all ranks
 * (PERDURE_MISMATCH). That check costs an exchange after a declaration has changed; what several ranks have is hashed
 * at every checkpoint, and the hashes are exchanged.
 *
 *  Indices and extents are of 64 bits; the last dimension varies fastest. (Fortran: the front turns the dimensions
 *  round, so that a(nx,ny) is an array of extents ny, nx.) Types of elements are texts: i1 i2 i4 i8 (integers), u1 u2
 * u4 u8 (without sign), f4 f8 (reals), c8 c16 (complex, two reals), b1 (truth value), v and a number (bytes), or
 * members of these, as in "{position:3f8,id:i4,v4}", where a member without a name is room between others.
 *  @{ */
/** An array as a whole, the same on all ranks. */
typedef struct perdure_array {
  const char* name;        /**< as in perdure_describe(); may be NULL */
  const char* type;        /**< of an element */
  int dimensions;          /**< 0, a scalar, to 8 */
  const uint64_t* extents; /**< of the whole array, in elements */
  const uint64_t* ghosts;  /**< so many elements of others are around each box in memory, on both sides of each
                                dimension; NULL: none. They are not stored */
  int fill_ghosts;         /**< not 0: a restore fills them, too, but for those outside of the array */
  const char* unit;        /**< may be NULL */
  const char* description; /**< may be NULL */
} perdure_array;

/** Elements that this rank owns, and where they are. */
typedef struct perdure_box {
  void* address;          /**< of the element `begin` */
  const uint64_t* begin;  /**< index in the array, by dimension */
  const uint64_t* end;    /**< behind the last, by dimension */
  const int64_t* strides; /**< bytes from one index to the next, by dimension; NULL: dense, with the ghosts around it */
} perdure_box;

/** Declares an array and registers this rank's part of it; again with the same id: replaces it. [local]
 *  Boxes are not empty. A rank has at most 1,000,000 of an array, and what describes them takes at most 192 KiB: a
 * regular grid of any size needs little, irregular boxes some 5 bytes each, so that about 37,000 of them fit. What they
 * reach in memory must stay valid as in perdure_protect(). Boxes with gaps may lie within each other, as members of
 * structures do. */
PERDURE_API perdure_status perdure_protect_global(perdure_t* handle, int id, const perdure_array* array,
                                                  const perdure_box* boxes, size_t count);

/** The block of this rank where an array is divided evenly. [local] `grid`: ranks in each dimension, whose product is
 * the number of ranks, the last dimension fastest; NULL: the most even. A block may be empty: begin equals end. */
PERDURE_API perdure_status perdure_block(perdure_t* handle, const perdure_array* array, const uint64_t* grid,
                                         uint64_t* begin, uint64_t* end);
/** perdure_protect_global() of that block. [local] `address` is that of its first element, behind the ghosts. */
PERDURE_API perdure_status perdure_protect_block(perdure_t* handle, int id, const perdure_array* array,
                                                 const uint64_t* grid, void* address);
/** The same, divided into blocks of `lengths` that are dealt out in turn in each dimension (ScaLAPACK's distribution,
 *  from rank 0 on). [local] `address`: the blocks of this rank as one dense array, as there. No ghosts. */
PERDURE_API perdure_status perdure_protect_block_cyclic(perdure_t* handle, int id, const perdure_array* array,
                                                        const uint64_t* grid, const uint64_t* lengths, void* address);
/** A list of rows (particles; rows or values of a sparse matrix): of extents[0] rows, which is not looked at, this rank
 * has `rows`, dense. [local] They follow each other in the order of the ranks. Ranks may have other numbers of rows at
 *  every checkpoint. Restored, every rank gets as many as it has registered; together they are all
 *  (perdure_stored_array() tells how many there are). */
PERDURE_API perdure_status perdure_protect_list(perdure_t* handle, int id, const perdure_array* array, void* address,
                                                uint64_t rows);
/** An array that is equal on all ranks, dense: it is stored once, and every rank gets it back. [local] Compared at
 *  every checkpoint: PERDURE_MISMATCH names two ranks that differ. */
PERDURE_API perdure_status perdure_protect_replicated(perdure_t* handle, int id, const perdure_array* array,
                                                      void* address);

/** An array in a stored checkpoint. */
typedef struct perdure_array_info {
  int dimensions;         /**< 0 to 8 */
  uint64_t extents[8];    /**< of the whole array; those beyond `dimensions` are 0 */
  uint64_t element_bytes; /**< bytes of one element */
  char name[72];          /**< "" when it has none */
  char unit[72];          /**< "" when it has none */
  char type[1024];        /**< cut where it is longer */
} perdure_array_info;

/** What array `id` is in a stored checkpoint of any number of ranks, before restoring it. [collective]
 *  Errors as those of perdure_stored_size(). */
PERDURE_API perdure_status perdure_stored_array(perdure_t* handle, const char* name, int64_t version, int id,
                                                perdure_array_info* info);
/** @} */

/** Captures all protected regions of all ranks as `name`, `version`; returns at level `process`. [collective]
 *  A program that has restored nothing of `name`, which has versions, begins a new branch (PERDURE_EXISTS with the
 *  option `new_start = refuse`); otherwise a number that the branch has is PERDURE_EXISTS.
 *  The content is that at the moment of the call; the regions may change as soon as it returns. If any rank fails, all
 *  ranks get an error and nothing of this version remains. With the option `capture.mode` `cow` or `auto` it may return
 *  at level `none`, before all is copied: the next collective call on this handle finishes it first, perdure_wait() for
 *  level `process` waits for it and returns what went wrong, and the memory of regions stays mapped until then or until
 *  perdure_unprotect(). Memory of a region that is unmapped at the call is PERDURE_INVALID_ARGUMENT about that
 *  region. */
PERDURE_API perdure_status perdure_checkpoint(perdure_t* handle, const char* name, int64_t version);

/** The newest version of `name` that every rank can restore; the errors are those of perdure_restore(). [collective]
 *  Where all that is protected are parts of arrays, that is of any number of ranks; otherwise of as many as there are
 *  now. Where no rank has protected anything yet, what is stored decides: of any number of ranks where all of it is
 *  parts of arrays, and of as many as there are now where some of it is memory of one rank. */
PERDURE_API perdure_status perdure_latest(perdure_t* handle, const char* name, int64_t* version);

/** The size of this rank's region `id` in a stored checkpoint, before restoring it. [collective]
 *  `version` may be PERDURE_LATEST. Of a region that is protected already, that of the stored one that would fill it;
 *  else of the one with this number. PERDURE_NOT_FOUND when there is nothing of that name; PERDURE_MISMATCH when there
 *  is no such version, and, on the ranks that asked for it, when it has no such region. */
PERDURE_API perdure_status perdure_stored_size(perdure_t* handle, const char* name, int64_t version, int id,
                                               perdure_region_size* size);

/** Fills the protected regions from a checkpoint; every byte is verified. [collective]
 *  All protected regions must be in it, and no others, with the same element size and count, arrays with the same type
 *  and extents, but for what perdure_set_presence(), perdure_renamed() and perdure_pass_over() say. Otherwise
 *  PERDURE_MISMATCH, on all ranks with the same text, which names all that differs on the first rank where something
 *  does; before anything is touched. Where all of them are parts of arrays, the checkpoint may have been written by any
 *  number of ranks, and divided in any way (then memory of one rank is left to perdure_restore_part()); otherwise by as
 *  many as there are now. A number that the name does not have is PERDURE_MISMATCH, too: the text says which versions
 *  there are, or which branch has it. With PERDURE_LATEST, versions that
 *  fail verification are set aside and the next older one is taken. What only keeps a rank from its data (a device,
 *  room, memory) is tried again, and then the error, such as PERDURE_IO or PERDURE_NO_SPACE: no older version takes the
 *  place of one that may be whole. PERDURE_NOT_FOUND: of this name there is nothing, in the store or on the nodes of
 *  the job, and nothing was set aside: a first start. PERDURE_CORRUPT: nothing whole is left, and some of it was set
 *  aside; PERDURE_INCOMPLETE: there are parts only. These two come at every later call and start, until the parts are
 *  there again or somebody decides (`perdure forget NAME`). When it fails with PERDURE_MISMATCH or PERDURE_NOT_FOUND
 *  nothing was touched; after other failures the content of the regions is undefined.
 */
PERDURE_API perdure_status perdure_restore(perdure_t* handle, const char* name, int64_t version);

/** The same of branch `branch` ("3f9a12", as `perdure ls` and reports write it) and what that went on from, whichever
 *  branch is the current one. [collective] What is checkpointed next goes on from there. PERDURE_INVALID_ARGUMENT:
 *  `branch` is not the name of one. */
PERDURE_API perdure_status perdure_restore_branch(perdure_t* handle, const char* name, const char* branch,
                                                  int64_t version);

/** What a restore took. */
typedef struct perdure_restored_info {
  char name[136];       /**< of the checkpoint */
  int64_t version;      /**< its number */
  char branch[8];       /**< "3f9a12"; "000000" where an older Perdure wrote it */
  uint64_t created_ns;  /**< when its checkpoint was begun, nanoseconds since 1970 by rank 0's clock */
  double age_s;         /**< since then, by this machine's clock; never negative */
  int source;           /**< as perdure_progress.restore_source */
  unsigned passed_over; /**< how many versions are newer and were not taken */
} perdure_restored_info;

/** What the last restore of this handle took. [local] PERDURE_NOT_FOUND: there was none. */
PERDURE_API perdure_status perdure_restored(perdure_t* handle, perdure_restored_info* info);

/** A version that is newer than the one that was restored. */
typedef struct perdure_passed_over_info {
  int64_t version;     /**< its number */
  uint64_t created_ns; /**< when its checkpoint was begun */
  char why[1024];      /**< why it was not taken; cut where it is longer */
} perdure_passed_over_info;

/** The newer versions that the last restore of PERDURE_LATEST did not take, by number `which`, from 0 to
 *  perdure_restored_info.passed_over - 1. [local] The same on all ranks; each is also a report. PERDURE_NOT_FOUND:
 *  there is none of that number. */
PERDURE_API perdure_status perdure_passed_over(perdure_t* handle, unsigned which, perdure_passed_over_info* info);

/** The same for the regions in `ids` only (every rank may name others; all must be protected, PERDURE_MISMATCH).
 *  [collective] Whatever else is stored is passed over. */
PERDURE_API perdure_status perdure_restore_regions(perdure_t* handle, const char* name, int64_t version, const int* ids,
                                                   size_t count);

/** Fills this rank's memory with region `id` of rank `rank` of those that wrote a checkpoint, however many they were:
 *  memory that is no part of an array, taken one by one. [collective] Every rank may name another rank and region; who
 *  needs nothing asks for something into memory that it does not need. Rank and region have to be there,
 * `element_bytes` and `count` those that are stored (PERDURE_MISMATCH on all ranks). Nothing has to be protected; what
 * is stays as it is, and says by its name which stored region is meant. Else as perdure_restore(). */
PERDURE_API perdure_status perdure_restore_part(perdure_t* handle, const char* name, int64_t version, int rank, int id,
                                                void* address, size_t element_bytes, size_t count);

/** Waits until the checkpoint has reached `level` on all ranks. [collective]
 *  Copying that is still under way (`capture.mode`) is waited for whatever the timeout. Of versions that come faster
 *  than they are stored, those that retention would remove at once are skipped, unless somebody waits for them. A wait
 *  for one that was skipped already ends when a newer version of the name is there, with PERDURE_OK and a report
 *  (perdure_next_report()). PERDURE_TIMEOUT when
 * `timeout_s` passed; the flush's own error when it was given up; PERDURE_UNAVAILABLE when level `node` needs the
 * engine of a node that is gone, which the text names. */
PERDURE_API perdure_status perdure_wait(perdure_t* handle, const char* name, int64_t version, perdure_level level,
                                        double timeout_s);

/** The level that the checkpoint has reached, as far as this rank's node knows. [local]
 *  PERDURE_LEVEL_NODE is said of what all nodes keep for sure, as they agreed at the last checkpoint or wait: a version
 *  that a newer one has superseded there is at PERDURE_LEVEL_PROCESS again, until it is waited for. */
PERDURE_API perdure_status perdure_level_reached(perdure_t* handle, const char* name, int64_t version,
                                                 perdure_level* level);

/** What the background is doing. [local]
 *  Where the engine does not answer the call fails; what concerns this rank and this handle (last_blocking_s,
 * last_bytes, last_restore_s, restored_version, restore_source) is filled in all the same, the rest as it was last
 * heard. */
PERDURE_API perdure_status perdure_get_progress(perdure_t* handle, perdure_progress* progress);

/** Takes the oldest report of the background (a failed flush, a quarantined piece) that was not taken yet. [local]
 *  `text` gets it, cut to `text_bytes` bytes with the final 0. Returns PERDURE_NOT_FOUND when there is none. Each
 *  report is given once per node. */
PERDURE_API perdure_status perdure_next_report(perdure_t* handle, char* text, size_t text_bytes);

/** Gives up a version of the current branch on purpose, on tiers and store. [collective]
 *  Where the store cannot say which branch that is, nothing is given up, and all ranks get its error. */
PERDURE_API perdure_status perdure_retire(perdure_t* handle, const char* name, int64_t version);

/** Whether `here` is not 0 on any rank: *any gets 1, or 0. [collective] One exchange of some 700 bytes. For what ranks
 *  decide together without a common clock, such as whether a checkpoint is due. */
PERDURE_API perdure_status perdure_any(perdure_t* handle, int here, int* any);

/** Whether a checkpoint is due, and why: *reasons gets bits of perdure_due_reason, the same on all ranks, 0 where none
 *  is. [collective] One exchange, as perdure_any(); a program may ask in every step. It finishes no checkpoint that is
 *  still being copied.
 *  SIGUSR1 on any rank makes one due until a checkpoint of this handle has succeeded that began later. What asks for
 * the end (PERDURE_DUE_END) asks until the program ends: checkpoint, close, and return. A request to halt concerns
 * programs that were opened before its time, and is heard within some seconds. */
PERDURE_API perdure_status perdure_due(perdure_t* handle, unsigned* reasons);

/** Ends the handle and sets it to NULL. [collective] With an embedded engine, waits until what was captured is at
 *  the store or was given up (no longer than the option `engine.drain_timeout`; the option `messages` makes it say for
 *  what); PERDURE_OK when nothing remains behind.
 *  PERDURE_INCOMPLETE: all that is on the nodes is stored, but the store has a part of a version only, and redundancy
 *  that may complete it stays on the nodes. Where another rank is in another call, or gone, it fails, and the node's
 *  engine stores what it has by itself. PERDURE_BUSY: a call on the handle goes on that is not waited for (above), and
 *  the handle stays. Else it is gone whatever is returned; when that is a failure, perdure_error_text(NULL) says why.
 *  Calls with a closed handle give PERDURE_CLOSED if the pointer was kept in another variable.
 *
 *  What nobody closed is closed when the process ends by return from main() or exit(), and so is stored all the same.
 *  There, a handle of a communicator of the caller's own speaks with no other rank: its node stores what all ranks had
 *  agreed on. Nothing is closed by _exit(), quick_exit(), abort() and signals, nor in a child that fork() made. */
PERDURE_API perdure_status perdure_close(perdure_t** handle);

/** perdure_close() by somebody else than the handle's owner: a group of ranks that is about to end. [collective]
 *  `why` names that, for people. MPI_Finalize calls it for the handles of perdure_open_mpi(); a communicator of your
 * own may, too. The handle stays for its owner: every call gives PERDURE_CLOSED, and so does perdure_close(), or the
 * failure that this call returned. That failure is said on standard error, too, where the option `messages` wants that.
 */
PERDURE_API perdure_status perdure_close_early(perdure_t* handle, const char* why);

/** The text of the last failure on this handle, valid until its next call; "" when there was none. [local]
 *  With NULL, which perdure_close() leaves: why this thread's last perdure_close() failed, valid until its next one. */
PERDURE_API const char* perdure_error_text(perdure_t* handle);
/** True (1) when the last failure may go away by itself; with NULL, that of this thread's last close. [local] */
PERDURE_API int perdure_error_retryable(perdure_t* handle);
/** The code's name, e.g. "not-found". [local, any thread] */
PERDURE_API const char* perdure_status_name(perdure_status status);
/** "0.1.0". [local, any thread] */
PERDURE_API const char* perdure_version(void);

#ifdef __cplusplus
}
#endif
#endif /* PERDURE_PERDURE_H */
