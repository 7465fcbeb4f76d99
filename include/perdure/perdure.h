/** @file
 * Perdure is a checkpoint-restart runtime for parallel programs. This is its C API.
 *
 * Conventions
 *  1. Every function returns a perdure_status: PERDURE_OK (0), or a code for the failure. perdure_error_text() gives
 *     the object, the cause and the remedy of the last failure on that handle. The library never exits or aborts. It
 *     prints only if the option `messages` asks for it.
 *  2. perdure_open*() makes a handle and perdure_close() ends it. MPI_Finalize (perdure_mpi.h) closes the handles that
 *     are still open. So does the end of the process, by return from main() or exit(). Any number of handles may be
 *     open at once.
 *  3. A handle serialises the calls made on it, so any thread may call. All ranks of the handle's communicator must
 *     make the calls marked [collective], in the same order. With MPI, the calling thread must be one that may call
 *     MPI. Calls marked [local] never communicate with other ranks. A call from within another call on the same handle,
 *     such as from a function of its communicator, returns PERDURE_BUSY. So does a call at the end of the process, in
 *     destructors of global objects, while another thread's call is still running.
 *  4. Sizes are bytes unless the name says otherwise; times are seconds. Versions are non-negative.
 *  5. Pointers given to perdure_protect() must stay valid until perdure_unprotect(), re-protect or perdure_close().
 *     Regions that follow their owner (perdure_follow()) are the exception. Strings and structures given to any other
 *     call are not kept. NULL is refused with PERDURE_INVALID_ARGUMENT.
 *  6. Names of checkpoints have 1 to 128 of the characters A-Z a-z 0-9 . _ - and begin with a letter or a digit.
 *  7. After fork(), the child may not use handles of the parent: its calls return PERDURE_WRONG_PROCESS.
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

/** The outcome of a call. Values never change their meaning. */
typedef enum perdure_status {
  PERDURE_OK = 0,               /**< success */
  PERDURE_INVALID_ARGUMENT = 1, /**< an argument is wrong; the call did nothing */
  PERDURE_NOT_FOUND = 2, /**< the object does not exist; for a restore: nothing exists under that name, anywhere */
  PERDURE_EXISTS = 3, /**< ranks disagree, the regions differ from the stored ones (number, size, type or shape), or the
                         name has other versions, but not this one */
  PERDURE_MISMATCH = 4, /**< ranks disagree, the regions differ from the stored ones (number, size, type or shape), or
                           the name has other versions, but not this one */
  PERDURE_CORRUPT =
      5, /**< data failed verification; it is not used, and is quarantined once a second reader saw the same damage */
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
  PERDURE_LEVEL_NONE = 0,    /**< no rank could restore anything */
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

/** Stands in for a version number: the newest version that every rank can restore. The newest is the version that was
 * begun last, not the one with the highest number. A program that restores an older version and checkpoints on from
 * there begins a new branch. So does a program that restores nothing of a name that has versions. Numbers are free on a
 * new branch. The branch that was left stays, as branch NAME\@BRANCH of `perdure ls`. PERDURE_LATEST and plain numbers
 * mean the current branch and the line it went on from; perdure_restore_branch() takes the others. */
#define PERDURE_LATEST ((int64_t)-1)
/** Stands in for a timeout: waits as long as it takes. */
#define PERDURE_FOREVER (-1.0)

/** An open Perdure. perdure_open*() makes it and perdure_close() ends it. */
typedef struct perdure_handle perdure_t;

/** The operations that the library needs from a group of ranks that is not MPI's (perdure_mpi.h makes one from
 * MPI_COMM). Every function returns 0, or non-zero when the group is broken. The library calls them on the calling
 * thread only, within [collective] calls. It copies the structure; `context` must live until the handle is closed. */
typedef struct perdure_communicator {
  int rank;      /**< this process's rank, from 0 to size - 1 */
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

/** The size of one region in a stored checkpoint. */
typedef struct perdure_region_size {
  uint64_t element_bytes; /**< bytes of one element */
  uint64_t count;         /**< elements of this rank, in all dimensions together */
} perdure_region_size;

/** The background work of this rank's node, and the history of this handle. */
typedef struct perdure_progress {
  uint64_t bytes_pending;    /**< captured, not yet at the store */
  uint64_t bytes_flushed;    /**< written to the store since the engine started */
  uint64_t versions_pending; /**< checkpoints not yet at the store */
  uint64_t versions_failed;  /**< checkpoints whose flush was abandoned; they are still on the node */
  double flush_bytes_per_s;  /**< moving average of the observed flush bandwidth; 0 before the first flush */
  double last_blocking_s;    /**< how long the last checkpoint stopped this rank */
  double last_flush_s;       /**< how long the last flush of this node took */
  double last_restore_s;     /**< how long the last restore took on this rank */
  uint64_t last_bytes;       /**< bytes of the last checkpoint of this rank */
  int64_t restored_version;  /**< version of the last restore, or -1 */
  int restore_source; /**< source of this rank's data: 0 nowhere, 1 tier, 2 store, 3 both; +4: other nodes copied it
                         into the tier */
} perdure_progress;

/** Opens a handle for a single process, without MPI. [collective over this process alone]
 * `options` holds "key=value" settings separated by newlines or semicolons, or is NULL; see docs/configuration.md.
 * Environment and configuration file override them. PERDURE_INVALID_ARGUMENT: mpirun or srun started several ranks, and
 * the option `ranks.alone` does not say that each is a program by itself. On failure *out is NULL, and `message` (may
 * be NULL) gets the text, cut to `message_bytes` bytes with the final 0. */
PERDURE_API perdure_status perdure_open(const char* options, perdure_t** out, char* message, size_t message_bytes);

/** Opens a handle for a group of ranks. [collective] `options` must be the same on all ranks. Everything else is as in
 * perdure_open(). When the call fails on one rank, it fails on all. */
PERDURE_API perdure_status perdure_open_communicator(const perdure_communicator* communicator, const char* options,
                                                     perdure_t** out, char* message, size_t message_bytes);

/** Registers memory: `count` elements of `element_bytes` bytes at `address`. [local]
 * Protecting an id again replaces address and size (re-protect). `count` may be 0; then `address` may be NULL.
 * Overlapping regions are refused. The caller chooses the ids, which are non-negative. A rank may have 1,000,000
 * regions. The cost of a call grows with the logarithm of their number, the cost of a checkpoint with their number. The
 * engine hears of them in the next collective call. */
PERDURE_API perdure_status perdure_protect(perdure_t* handle, int id, void* address, size_t element_bytes,
                                           size_t count);
/** Forgets a region; its memory may be freed. [local] Waits while a checkpoint still copies the region.
 * PERDURE_NOT_FOUND when the id is not protected. */
PERDURE_API perdure_status perdure_unprotect(perdure_t* handle, int id);

/** Registers the calling thread as number `id` of this rank. [local]
 * A checkpoint records the processors on which its rank's registered threads may run at that moment. A restore lets
 * threads of the same numbers run there again, before it fills any region. On another machine, threads run near the
 * pages that they were near (docs/process.md, Affinity). Registering a number again replaces it; a thread that has
 * ended is forgotten. The record is stored with the regions: a rank without regions records nothing. Numbers are 0 or
 * more, and a rank has at most 4096 of them. The option `affinity` turns this off. */
PERDURE_API perdure_status perdure_protect_thread(perdure_t* handle, int id);

/** Gives a registered region a name, a unit and a description for people. [local]
 * Each may be NULL. A name has 1 to 64 of the characters A-Z a-z 0-9 . _ - and begins with a letter; messages and the
 * command line show it. Registering the same id again keeps all three. Arrays (below) get theirs when they are
 * declared. */
PERDURE_API perdure_status perdure_describe(perdure_t* handle, int id, const char* name, const char* unit,
                                            const char* description);

/** Describes the elements of a region that perdure_protect() has registered. [local]
 * `type` is as in perdure_array below; NULL: not known. `extents` are `dimensions` numbers, at most 8, the last
 * dimension the fastest; their product is the number of elements. NULL: not known. A restore compares type and extents
 * if the stored region has them, too. Bytes (`v8`) say nothing about the elements, so they match any type of that size.
 * The command line shows both. Registering the same id again keeps the parts that still hold. PERDURE_INVALID_ARGUMENT:
 * type or extents do not describe the region. */
PERDURE_API perdure_status perdure_describe_elements(perdure_t* handle, int id, const char* type, int dimensions,
                                                     const uint64_t* extents);

/** @name Memory that moves
 * A region, or part of an array, can follow its owner. An owner is, for instance, a container that the program swaps,
 * resizes or makes anew. At each checkpoint and restore, the owner says where its elements are.
 * @{ */
/** Says where the elements of an owner are: their address and their number, in elements of the region's size. Returns
 * 0. Any other value means that it cannot say; then the call fails. It runs on the calling thread, within
 * perdure_follow(), perdure_checkpoint(), perdure_restore(), perdure_restore_branch() and perdure_restore_regions(). It
 * also runs when the program protects other memory that the region had. It must not call Perdure with the same handle
 * (PERDURE_BUSY), nor let an exception out. */
typedef int (*perdure_locate)(void* owner, void** address, size_t* count);
/** Makes a registered region follow `owner`, which has its elements now, or more than these. [local]
 * The library hands `owner` to `locate`, which it calls at once. `owner` must live until perdure_unprotect(),
 * re-protect or perdure_close(); the first two end the following. A region whose owner has moved is captured and filled
 * at its new place, also when two have swapped. A region that is all of its owner's elements may change its number of
 * elements. It must then be memory of one rank, or rows of a list. The checkpoint or restore refuses two changes before
 * it touches anything. This rank gets PERDURE_INVALID_ARGUMENT, all others PERDURE_PEER_FAILED. One is another number
 * of elements when the region is a part of them, or of an array that ranks have together. The other is a region that
 * had elements and now has none. Nobody can tell a cleared container from one whose elements were moved to another:
 * protect such a region again. PERDURE_NOT_FOUND when the id is not protected. */
PERDURE_API perdure_status perdure_follow(perdure_t* handle, int id, perdure_locate locate, void* owner);
/** Makes this rank's next perdure_checkpoint(), perdure_restore(), perdure_restore_branch() or
 * perdure_restore_regions() fail. [local] This rank gets PERDURE_INVALID_ARGUMENT about region `id` (negative: about
 * none in particular) with the reason `why`. All others get PERDURE_PEER_FAILED. The refusal is for that call alone,
 * even if that fails for another reason. It is for callers that look for regions before the call, miss one, and must
 * not leave the other ranks waiting. */
PERDURE_API perdure_status perdure_refuse_next(perdure_t* handle, int id, const char* why);
/** @} */

/** @name A program that has changed since its checkpoints
 * A restore finds a region by its name, whatever its number was. Numbers count if the program or the checkpoint has no
 * name for it, and among several regions of one name. Protected and stored regions must be the same ones, with the same
 * sizes. If type and shape are known on both sides, these must be equal, too. Otherwise the restore ends with
 * PERDURE_MISMATCH on all ranks, with one text that names all differences, and touches nothing. Programs change,
 * however: declare the changes before the restore. The declarations hold for everything that this handle restores.
 * @{ */
/** Says whether a restore may find that a region is not stored. */
typedef enum perdure_presence {
  PERDURE_REQUIRED = 0, /**< an absent region is a PERDURE_MISMATCH; this is the default */
  PERDURE_OPTIONAL = 1  /**< an absent region stays as it is, and perdure_was_restored() says so */
} perdure_presence;
/** Sets the presence of a registered region, or part of an array. [local] Registering the same id again keeps it. If
 * arrays are restored on another number of ranks, optional memory of one rank is absent. PERDURE_NOT_FOUND when the id
 * is not protected. */
PERDURE_API perdure_status perdure_set_presence(perdure_t* handle, int id, perdure_presence presence);
/** Tells whether the last successful restore filled a region: *restored gets 1. It gets 0 if the region was absent, or
 * not asked for. [local] Registering the same id again keeps the answer. PERDURE_NOT_FOUND when the id is not
 * protected. */
PERDURE_API perdure_status perdure_was_restored(perdure_t* handle, int id, int* restored);
/** Declares that the stored region called `before` is the protected one called `now`. [local] For a region without a
 * name, `before` is its number ("5"). The declaration may stay in the program: it does not concern checkpoints that
 * have the new name. A second declaration for the same `before` replaces the first. PERDURE_INVALID_ARGUMENT: the names
 * would form a circle. */
PERDURE_API perdure_status perdure_renamed(perdure_t* handle, const char* before, const char* now);
/** Declares that the program no longer needs the stored region called `region`: not protecting it is no mismatch.
 * [local] For a region without a name, `region` is its number ("5"). "*" means all regions that the program does not
 * protect. */
PERDURE_API perdure_status perdure_pass_over(perdure_t* handle, const char* region);
/** @} */

/** @name Arrays that ranks have together
 * A region can be a part of an array: then a checkpoint comes back on any number of ranks, divided in any way. All
 * ranks declare the same arrays, under the same ids, at the latest before the next checkpoint. A rank that has no part
 * of an array declares it without boxes. Each element has an owner. If it has several, they have the same value, bit
 * for bit, and the lowest rank stores it. Boxes of one rank do not overlap. A checkpoint refuses contradicting
 * declarations, elements that no rank has, and elements that two ranks have with different values. All ranks get the
 * same error (PERDURE_MISMATCH), with the first such elements. That check costs one exchange after a declaration has
 * changed. Elements that several ranks have are hashed at every checkpoint, and the ranks exchange the hashes.
 *
 * Indices and extents are of 64 bits; the last dimension varies fastest. (Fortran: the module perdure turns the
 * dimensions round, so that a(nx,ny) is an array of extents ny, nx.) Types of elements are texts:
 *  - i1 i2 i4 i8 are integers, and u1 u2 u4 u8 are unsigned integers;
 *  - f4 f8 are reals, c8 c16 are complex (two reals), and b1 is a truth value;
 *  - v and a number are bytes;
 *  - members of these, as in "{position:3f8,id:i4,v4}", form a structure. A member without a name is room between
 *    others.
 * @{ */
/** Describes an array as a whole, the same on all ranks. */
typedef struct perdure_array {
  const char* name;        /**< as in perdure_describe(); may be NULL */
  const char* type;        /**< type of an element, as above */
  int dimensions;          /**< 0, a scalar, to 8 */
  const uint64_t* extents; /**< extents of the whole array, in elements */
  const uint64_t* ghosts; /**< widths of the ghosts: elements of other ranks around each box in memory, on both sides of
                             each dimension; NULL: none. They are not stored */
  int fill_ghosts;        /**< not 0: a restore fills them, too, except those outside of the array */
  const char* unit;       /**< may be NULL */
  const char* description; /**< may be NULL */
} perdure_array;

/** Describes elements that this rank owns, and where they are. */
typedef struct perdure_box {
  void* address;          /**< address of the element `begin` */
  const uint64_t* begin;  /**< index of the first element in the array, by dimension */
  const uint64_t* end;    /**< index behind the last element, by dimension */
  const int64_t* strides; /**< bytes from one index to the next, by dimension; NULL: dense, with the ghosts around it */
} perdure_box;

/** Declares an array and registers this rank's part of it; a second call with the same id replaces it. [local]
 * Boxes are not empty. A rank has at most 1,000,000 of an array, and their description takes at most 192 KiB. A regular
 * grid of any size needs little. Irregular boxes need some 5 bytes each, so about 37,000 of them fit. The memory of the
 * boxes must stay valid as in perdure_protect(). Boxes with gaps may lie within each other, as members of structures
 * do. */
PERDURE_API perdure_status perdure_protect_global(perdure_t* handle, int id, const perdure_array* array,
                                                  const perdure_box* boxes, size_t count);

/** Gives this rank's block if an array is divided evenly. [local] `grid` has the number of ranks in each dimension, the
 * last dimension fastest; their product is the number of ranks. NULL: the most even grid. A block may be empty: begin
 * equals end. */
PERDURE_API perdure_status perdure_block(perdure_t* handle, const perdure_array* array, const uint64_t* grid,
                                         uint64_t* begin, uint64_t* end);
/** Registers that block as perdure_protect_global() does. [local] `address` is that of the block's first element,
 * behind the ghosts. */
PERDURE_API perdure_status perdure_protect_block(perdure_t* handle, int id, const perdure_array* array,
                                                 const uint64_t* grid, void* address);
/** Registers blocks of `lengths` that are dealt out in turn in each dimension (ScaLAPACK's distribution, from rank 0
 * on). [local] `address`: the blocks of this rank as one dense array, as there. There are no ghosts. */
PERDURE_API perdure_status perdure_protect_block_cyclic(perdure_t* handle, int id, const perdure_array* array,
                                                        const uint64_t* grid, const uint64_t* lengths, void* address);
/** Registers this rank's part of a list of rows (particles; rows or values of a sparse matrix). [local] This rank has
 * `rows` rows, dense. extents[0], the number of all rows, is ignored. The parts follow each other in the order of the
 * ranks. Each rank may have another number of rows at every checkpoint. A restore gives every rank as many rows as it
 * has registered; together these must be all rows. (perdure_stored_array() tells how many there are.) */
PERDURE_API perdure_status perdure_protect_list(perdure_t* handle, int id, const perdure_array* array, void* address,
                                                uint64_t rows);
/** Registers an array that is equal on all ranks, dense: it is stored once, and every rank gets it back. [local] Each
 * checkpoint compares it: PERDURE_MISMATCH names two ranks that differ. */
PERDURE_API perdure_status perdure_protect_replicated(perdure_t* handle, int id, const perdure_array* array,
                                                      void* address);

/** An array in a stored checkpoint. */
typedef struct perdure_array_info {
  int dimensions;         /**< 0 to 8 */
  uint64_t extents[8];    /**< extents of the whole array; those beyond `dimensions` are 0 */
  uint64_t element_bytes; /**< bytes of one element */
  char name[72];          /**< "" when it has none */
  char unit[72];          /**< "" when it has none */
  char type[1024];        /**< type of an element; cut if it is longer */
} perdure_array_info;

/** Describes array `id` in a stored checkpoint of any number of ranks, before restoring it. [collective] Errors are
 * those of perdure_stored_size(). */
PERDURE_API perdure_status perdure_stored_array(perdure_t* handle, const char* name, int64_t version, int id,
                                                perdure_array_info* info);
/** @} */

/** Captures all protected regions of all ranks as `name`, `version`; returns at level `process`. [collective]
 * The content is that at the moment of the call; the regions may change as soon as it returns. If any rank fails, all
 * ranks get an error and nothing of this version remains. PERDURE_EXISTS: the branch has this number already. A program
 * that has restored nothing of `name`, which has versions, begins a new branch. With the option `new_start = refuse` it
 * gets PERDURE_EXISTS instead.
 *
 * With the option `capture.mode` `cow` or `auto` the call may return at level `none`, before all is copied. The next
 * collective call on this handle finishes the copy first. perdure_wait() for level `process` waits for it and returns
 * its failure. The memory of regions must stay mapped until then or until perdure_unprotect(). If a region's memory is
 * unmapped at the call, PERDURE_INVALID_ARGUMENT names that region. */
PERDURE_API perdure_status perdure_checkpoint(perdure_t* handle, const char* name, int64_t version);

/** Gives the newest version of `name` that every rank can restore; the errors are those of perdure_restore().
 * [collective]
 * If all protected regions are parts of arrays, the version may be of any number of ranks. Otherwise it is of as many
 * as there are now. If no rank has protected anything yet, the stored regions decide. If all of them are parts of
 * arrays, the version may be of any number of ranks. If one of them is memory of one rank, it must be of as many as
 * there are now. */
PERDURE_API perdure_status perdure_latest(perdure_t* handle, const char* name, int64_t* version);

/** Gives the size of this rank's region `id` in a stored checkpoint, before restoring it. [collective]
 * `version` may be PERDURE_LATEST. If `id` is protected already, the size is that of the stored region that would fill
 * it. Otherwise it is that of the stored region with this number. PERDURE_NOT_FOUND: nothing exists under that name.
 * PERDURE_MISMATCH: that version does not exist; or it has no such region, on the ranks that asked for it. */
PERDURE_API perdure_status perdure_stored_size(perdure_t* handle, const char* name, int64_t version, int id,
                                               perdure_region_size* size);

/** Fills the protected regions from a checkpoint; every byte is verified. [collective]
 * The checkpoint must have all protected regions, and no others, with the same element size and count. Arrays must have
 * the same type and extents. perdure_set_presence(), perdure_renamed() and perdure_pass_over() declare exceptions.
 * Otherwise all ranks get PERDURE_MISMATCH with the same text, before anything is touched. The text names all
 * differences of the first rank that has any.
 *
 * If all protected regions are parts of arrays, any number of ranks may have written the checkpoint, divided in any
 * way. (Memory of one rank is then left to perdure_restore_part().) Otherwise as many ranks must have written it as
 * there are now. A number that the name does not have is PERDURE_MISMATCH, too. The text says which versions there are,
 * or which branch has it.
 *
 * With PERDURE_LATEST, versions that fail verification are set aside, and the restore takes the next older one. A
 * transient failure (a device, room, memory) is retried and then returned, such as PERDURE_IO or PERDURE_NO_SPACE. No
 * older version takes the place of one that may be whole.
 *
 * PERDURE_NOT_FOUND means a first start: nothing exists under this name in the store or on the nodes of the job, and
 * nothing was set aside. PERDURE_CORRUPT: nothing whole is left, and some of it was set aside. PERDURE_INCOMPLETE:
 * there are parts only. Every later call and start returns these two, until the parts are there again or a person
 * decides (`perdure forget NAME`). After PERDURE_MISMATCH or PERDURE_NOT_FOUND nothing was touched; after other
 * failures the content of the regions is undefined.
 */
PERDURE_API perdure_status perdure_restore(perdure_t* handle, const char* name, int64_t version);

/** Restores from branch `branch` and the line it went on from, whichever branch is the current one; else as
 * perdure_restore(). [collective] `branch` is written as in `perdure ls` and reports ("3f9a12"). The next checkpoint
 * goes on from there. PERDURE_INVALID_ARGUMENT: `branch` is not the name of a branch. */
PERDURE_API perdure_status perdure_restore_branch(perdure_t* handle, const char* name, const char* branch,
                                                  int64_t version);

/** Describes the version that a restore took. */
typedef struct perdure_restored_info {
  char name[136];       /**< name of the checkpoint */
  int64_t version;      /**< number of the version */
  char branch[8];       /**< "3f9a12"; "000000" where an older Perdure wrote it */
  uint64_t created_ns;  /**< when its checkpoint was begun, nanoseconds since 1970 by rank 0's clock */
  double age_s;         /**< seconds since then, by this machine's clock; never negative */
  int source;           /**< as perdure_progress.restore_source */
  unsigned passed_over; /**< number of newer versions that were not taken */
} perdure_restored_info;

/** Describes the version that the last restore of this handle took. [local] PERDURE_NOT_FOUND: no restore has
 * succeeded.
 */
PERDURE_API perdure_status perdure_restored(perdure_t* handle, perdure_restored_info* info);

/** A version that is newer than the one that was restored. */
typedef struct perdure_passed_over_info {
  int64_t version;     /**< its number */
  uint64_t created_ns; /**< when its checkpoint was begun */
  char why[1024];      /**< why it was not taken; cut if it is longer */
} perdure_passed_over_info;

/** Describes a newer version that the last restore of PERDURE_LATEST did not take. [local] `which` is its number, from
 * 0 to perdure_restored_info.passed_over - 1. The list is the same on all ranks; each is also a report.
 * PERDURE_NOT_FOUND: there is none of that number. */
PERDURE_API perdure_status perdure_passed_over(perdure_t* handle, unsigned which, perdure_passed_over_info* info);

/** Restores the regions in `ids` only, and passes over all other stored regions; else as perdure_restore().
 * [collective] Each rank may name other regions. All must be protected (PERDURE_MISMATCH). */
PERDURE_API perdure_status perdure_restore_regions(perdure_t* handle, const char* name, int64_t version, const int* ids,
                                                   size_t count);

/** Fills this rank's memory with region `id` that rank `rank` of the writers stored, however many writers there were.
 * [collective] The region is memory of one rank, not part of an array. Every rank may name another rank and region. A
 * rank that needs nothing asks for some region, into memory that it does not use. Rank and region must exist, and
 * `element_bytes` and `count` must be the stored ones (PERDURE_MISMATCH on all ranks). The region need not be
 * protected. A protected one keeps its content; its name then says which stored region is meant. Else as
 * perdure_restore(). */
PERDURE_API perdure_status perdure_restore_part(perdure_t* handle, const char* name, int64_t version, int rank, int id,
                                                void* address, size_t element_bytes, size_t count);

/** Waits until the checkpoint has reached `level` on all ranks. [collective]
 * Copying that is still in flight (`capture.mode`) is waited for whatever the timeout. If versions come faster than
 * they are stored, those that retention would remove at once are skipped, unless a rank waits for them. A wait for a
 * version that was skipped already ends once a newer version of the name is there. It then returns PERDURE_OK and makes
 * a report (perdure_next_report()). PERDURE_TIMEOUT: `timeout_s` passed. PERDURE_UNAVAILABLE: level `node` needs the
 * engine of a node that is gone, which the text names. If the flush was abandoned, the call returns its error. */
PERDURE_API perdure_status perdure_wait(perdure_t* handle, const char* name, int64_t version, perdure_level level,
                                        double timeout_s);

/** Gives the level that the checkpoint has reached, as far as this rank's node knows. [local]
 * PERDURE_LEVEL_NODE covers only versions that all nodes keep for sure, as they agreed at the last checkpoint or wait.
 * A version that a newer one has superseded there is at PERDURE_LEVEL_PROCESS again, until a call waits for it. */
PERDURE_API perdure_status perdure_level_reached(perdure_t* handle, const char* name, int64_t version,
                                                 perdure_level* level);

/** Tells about the background work. [local]
 * If the engine does not answer, the call fails. It still fills in the members of this rank and handle:
 * last_blocking_s, last_bytes, last_restore_s, restored_version, restore_source. The others are as they were last
 * heard. */
PERDURE_API perdure_status perdure_get_progress(perdure_t* handle, perdure_progress* progress);

/** Takes the oldest report of the background (a failed flush, a quarantined piece) that no call has taken yet. [local]
 * `text` gets it, cut to `text_bytes` bytes with the final 0. PERDURE_NOT_FOUND: there is none. Each report is given
 * once per node. */
PERDURE_API perdure_status perdure_next_report(perdure_t* handle, char* text, size_t text_bytes);

/** Retires a version of the current branch on purpose, on tiers and store. [collective] If the store cannot say which
 * branch is the current one, nothing is retired, and all ranks get its error. */
PERDURE_API perdure_status perdure_retire(perdure_t* handle, const char* name, int64_t version);

/** Tells whether `here` is not 0 on any rank: *any gets 1, or 0. [collective] Costs one exchange of some 700 bytes. It
 * is for joint decisions without a common clock, such as whether a checkpoint is due. */
PERDURE_API perdure_status perdure_any(perdure_t* handle, int here, int* any);

/** Tells whether a checkpoint is due, and why. *reasons gets bits of perdure_due_reason, the same on all ranks; 0 if
 * none is due. [collective] Costs one exchange, as perdure_any(); a program may ask in every step. It finishes no
 * checkpoint that is still being copied.
 * SIGUSR1 on any rank makes a checkpoint due. It stays due until a checkpoint of this handle that began later has
 * succeeded. A request for the end (PERDURE_DUE_END) lasts until the program ends: checkpoint, close, and return. A
 * request to halt concerns programs that were opened before its time, and is heard within some seconds. */
PERDURE_API perdure_status perdure_due(perdure_t* handle, unsigned* reasons);

/** Ends the handle and sets it to NULL. [collective] With an embedded engine, waits until all captured data is at the
 * store or was abandoned. The wait is no longer than the option `engine.drain_timeout`; with the option `messages` it
 * names the versions that it waits for. PERDURE_OK: nothing remains behind. PERDURE_INCOMPLETE: everything on the nodes
 * is stored, but the store has only a part of a version. Redundancy that may complete it stays on the nodes. If another
 * rank is in another call, or gone, the call fails, and the node's engine stores its data by itself. PERDURE_BUSY:
 * another call on the handle is running that is not waited for (above); the handle stays. In all other cases the handle
 * is gone, whatever is returned. After a failure, perdure_error_text(NULL) says why. Calls with a closed handle return
 * PERDURE_CLOSED if the pointer was kept in another variable.
 *
 * A handle that nobody closed is closed when the process ends by return from main() or exit(), so its data is stored
 * all the same. At that time, a handle with the caller's own communicator speaks with no other rank. Its node stores
 * the versions that all ranks had agreed on. _exit(), quick_exit(), abort() and signals close nothing, and neither does
 * a child that fork() made. */
PERDURE_API perdure_status perdure_close(perdure_t** handle);

/** Closes a handle on behalf of its owner, for a group of ranks that is about to end. [collective] `why` names the
 * reason, for people. MPI_Finalize calls it for the handles of perdure_open_mpi(); a communicator of your own may, too.
 * The handle stays for its owner: every call returns PERDURE_CLOSED. perdure_close() returns that, or the failure of
 * this call. If the option `messages` asks for it, that failure is also printed on standard error.
 */
PERDURE_API perdure_status perdure_close_early(perdure_t* handle, const char* why);

/** Gives the text of the last failure on this handle, valid until its next call; "" when there was none. [local] With
 * NULL, which perdure_close() leaves: why this thread's last perdure_close() failed, valid until its next one. */
PERDURE_API const char* perdure_error_text(perdure_t* handle);
/** Returns 1 when the last failure may go away by itself; with NULL, that of this thread's last close. [local] */
PERDURE_API int perdure_error_retryable(perdure_t* handle);
/** Gives the code's name, e.g. "not-found". [local, any thread] */
PERDURE_API const char* perdure_status_name(perdure_status status);
/** Gives the library's version, "0.1.0". [local, any thread] */
PERDURE_API const char* perdure_version(void);

#ifdef __cplusplus
}
#endif
#endif /* PERDURE_PERDURE_H */
