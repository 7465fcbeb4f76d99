/** @file
 * This C API reads a stored checkpoint without the program that wrote it, its ranks, MPI or an engine.
 *
 * The conventions are those of perdure.h, with these of its own:
 *  1. perdure_open_reader() makes a reader and perdure_close_reader() ends it. A reader serialises the calls made on
 *     it, so any thread may call. All calls are [local]. perdure_reader_error_text() describes the last failure.
 *  2. A reader verifies every byte with the whole chunk that contains it. It reads damaged data a second time, past
 *     this machine's page cache, before it returns PERDURE_CORRUPT. A reader changes nothing in the store: it sets
 *     nothing aside, and removes nothing.
 *  3. A reader keeps some chunks that it read last in memory, at most 256 MiB.
 *  4. Indices and extents are in elements, of 64 bits; the last dimension varies fastest.
 *  5. After a failure the content of a target is undefined.
 *  6. A job may retire the version while it is read. Then reads fail unless their data is in memory already.
 */
#ifndef PERDURE_PERDURE_READER_H
#define PERDURE_PERDURE_READER_H

#include "perdure/perdure.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Says how much of a stored version there is, judged by its manifests; perdure_reader_verify() reads every byte. */
typedef enum perdure_stored_state {
  PERDURE_STORED_COMPLETE = 0,   /**< all of it is there */
  PERDURE_STORED_INCOMPLETE = 1, /**< segments are missing: it is being written, or was abandoned */
  PERDURE_STORED_DAMAGED = 2     /**< a manifest is damaged, or manifests contradict each other */
} perdure_stored_state;

/** An attempt at a version, in a store. Texts are valid until the visitor returns. */
typedef struct perdure_stored_version {
  const char* name;           /**< name of the checkpoint */
  int64_t version;            /**< as it was given to perdure_checkpoint() */
  perdure_stored_state state; /**< whether it can be read */
  const char* reason;         /**< why it is not complete; "" when it is */
  uint64_t ranks;             /**< number of ranks that wrote it; 0: unknown */
  uint64_t bytes;             /**< bytes of its files */
  uint64_t created_ns; /**< nanoseconds since 1970; of several attempts at a version the newest complete one counts */
} perdure_stored_version;

/** Sees one version after the other; returns 0 to see the next one, anything else to stop. */
typedef int (*perdure_version_visitor)(void* context, const perdure_stored_version* version);

/** Shows `visit` the versions in the store at `store_path`, a directory or SCHEME://PLACE. [local] `name`: shows this
 * checkpoint only; NULL: shows all, by name. The oldest attempt of each comes first. `message` is that of
 * perdure_open_reader(). PERDURE_NOT_FOUND: no such store, or nothing of that name. PERDURE_PERMISSION: this user may
 * not read some of that name. If `name` is NULL, such versions are left out. */
PERDURE_API perdure_status perdure_list_versions(const char* store_path, const char* name,
                                                 perdure_version_visitor visit, void* context, char* message,
                                                 size_t message_bytes);

/** A version of a checkpoint that is open for reading. */
typedef struct perdure_reader_handle perdure_reader_t;

/** Says how a region belongs to the ranks. */
typedef enum perdure_stored_kind {
  PERDURE_STORED_LOCAL = 0,     /**< each rank has its own (perdure_protect()) */
  PERDURE_STORED_ARRAY = 1,     /**< an array that ranks have together (perdure_protect_global()) */
  PERDURE_STORED_LIST = 2,      /**< rows of all ranks, one behind the other (perdure_protect_list()) */
  PERDURE_STORED_REPLICATED = 3 /**< an array that was equal on all ranks (perdure_protect_replicated()) */
} perdure_stored_kind;

/** A region of a stored version. Texts are valid until the reader is closed, and "" if the program gave none. */
typedef struct perdure_region_info {
  int id;                   /**< the number that the program gave it */
  perdure_stored_kind kind; /**< how it belongs to the ranks */
  const char* name;         /**< as in perdure_describe() */
  const char* type;         /**< type of an element, as in perdure_protect_global(); "v8": 8 bytes of unknown type */
  const char* unit;         /**< as in perdure_describe() */
  const char* description;  /**< as in perdure_describe() */
  int dimensions;           /**< 0, a scalar, to 8; 1 for a local region */
  uint64_t extents[8];    /**< extents in elements; those beyond `dimensions` are 0. For a local region, the most that a
                             rank has */
  uint64_t element_bytes; /**< bytes of one element; for a local region, those of the lowest rank that has it */
  uint64_t ranks;         /**< number of ranks that stored any of it; for a local region, of those that have it */
  uint64_t bytes;         /**< bytes stored of it in all */
} perdure_region_info;

/** Opens a version in the store at `store_path`, a directory or SCHEME://PLACE, and reads its manifests. [local] `name`
 * may be NAME\@BRANCH, as `perdure ls` names branches; otherwise the current branch is meant. `version` may be
 * PERDURE_LATEST: the newest version with all its segments. The newest complete attempt at a
 * version is taken. If that one is damaged, no older one takes its place. On failure *out is NULL, and `message` (may
 * be NULL) gets the text, cut to `message_bytes` bytes with the final 0. PERDURE_NOT_FOUND: no such store or name.
 * PERDURE_MISMATCH: no such version of it. PERDURE_INCOMPLETE: segments are missing, which the text names.
 * PERDURE_CORRUPT: a manifest is damaged, or ranks contradict each other. PERDURE_UNSUPPORTED: it was written by a
 * newer Perdure. */
PERDURE_API perdure_status perdure_open_reader(const char* store_path, const char* name, int64_t version,
                                               perdure_reader_t** out, char* message, size_t message_bytes);
/** Ends the reader and sets it to NULL. [local] PERDURE_CLOSED when it was closed before. */
PERDURE_API perdure_status perdure_close_reader(perdure_reader_t** reader);
/** Gives the text of the last failure on this reader, valid until its next call; "" when there was none. [local] */
PERDURE_API const char* perdure_reader_error_text(perdure_reader_t* reader);

/** Gives the version's number, and how many ranks wrote it. [local] Either may be NULL. */
PERDURE_API perdure_status perdure_reader_version(perdure_reader_t* reader, int64_t* version, uint64_t* ranks);
/** Gives the number of regions of the version, each id once. [local] */
PERDURE_API perdure_status perdure_reader_region_count(perdure_reader_t* reader, size_t* count);
/** Gives region number `index`, from 0 on, ascending by id. [local] PERDURE_NOT_FOUND: `index` is beyond the last. */
PERDURE_API perdure_status perdure_reader_region(perdure_reader_t* reader, size_t index, perdure_region_info* info);
/** Gives the index of the region with this name, or this number ("5"). [local] PERDURE_NOT_FOUND: there is none; the
 * text lists the regions. PERDURE_INVALID_ARGUMENT: several have the name. */
PERDURE_API perdure_status perdure_reader_find(perdure_reader_t* reader, const char* region, size_t* index);

/** Reads the elements of an array from index `begin` to before `end`, one behind the other, the last dimension fastest.
 * [local] `begin` and `end` have a number for each dimension; both NULL: the whole array. `target_bytes` is exactly the
 * size of the elements. PERDURE_INVALID_ARGUMENT: the region is local, the box is not inside the array, or the target
 * has another size. PERDURE_CORRUPT: a chunk is damaged, or no rank stored some of the elements; the text says where.
 */
PERDURE_API perdure_status perdure_reader_read(perdure_reader_t* reader, size_t index, const uint64_t* begin,
                                               const uint64_t* end, void* target, size_t target_bytes);

/** Gives the size of the local region `id` of a rank. [local] PERDURE_NOT_FOUND when the rank has none. */
PERDURE_API perdure_status perdure_reader_local_size(perdure_reader_t* reader, uint64_t rank, int id,
                                                     perdure_region_size* size);
/** Reads `count` elements of the local region `id` of a rank, from number `first` on. [local] `target_bytes` is exactly
 * the size of the elements. Errors are those of perdure_reader_read() and perdure_reader_local_size(). */
PERDURE_API perdure_status perdure_reader_read_local(perdure_reader_t* reader, uint64_t rank, int id, uint64_t first,
                                                     uint64_t count, void* target, size_t target_bytes);

/** Reads and verifies every byte of the version, including its manifests and the room between chunks. [local]
 * PERDURE_CORRUPT: the text has the first defect, and the number of defects. */
PERDURE_API perdure_status perdure_reader_verify(perdure_reader_t* reader);

/** Options of perdure_reader_export(), which takes sums of these. */
typedef enum perdure_export_option {
  PERDURE_EXPORT_REPLACE = 1,   /**< replace existing files */
  PERDURE_EXPORT_UNVERIFIED = 2 /**< do not read the written data back and compare it */
} perdure_export_option;

/** Writes regions as PATH.h5 or PATH.zarr (Zarr 3): whole, or not at all. [local] PATH.h5 is HDF5. If there are fields
 * of two or three dimensions, PATH.xdmf is written beside it. `regions`: `count` names or numbers; NULL and 0: all.
 * `options`: a sum of perdure_export_option. PERDURE_INVALID_ARGUMENT: another ending. PERDURE_EXISTS: a file is there
 * already. PERDURE_NOT_FOUND: no such region. PERDURE_UNSUPPORTED: this machine has no HDF5 library. PERDURE_CORRUPT: a
 * chunk is damaged, or the data read back differs. */
PERDURE_API perdure_status perdure_reader_export(perdure_reader_t* reader, const char* path, const char* const* regions,
                                                 size_t count, int options);

#ifdef __cplusplus
}
#endif
#endif /* PERDURE_PERDURE_READER_H */
