"""Declares the C library, finds it and loads it.

The declarations are those of perdure.h and perdure_reader.h; tests/test_capi.py compares them, so that neither can
change alone. To use functions of the C API that this package does not wrap, call `lib` with `ffi`.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path
from typing import Any, Iterator, List, Tuple

import cffi

from ._version import __version__

ffi = cffi.FFI()
ffi.cdef(
    """
typedef enum perdure_status {
  PERDURE_OK = 0, PERDURE_INVALID_ARGUMENT = 1, PERDURE_NOT_FOUND = 2, PERDURE_EXISTS = 3, PERDURE_MISMATCH = 4,
  PERDURE_CORRUPT = 5, PERDURE_NO_SPACE = 6, PERDURE_IO = 7, PERDURE_PERMISSION = 8, PERDURE_UNAVAILABLE = 9,
  PERDURE_TIMEOUT = 10, PERDURE_CLOSED = 11, PERDURE_WRONG_PROCESS = 12, PERDURE_UNSUPPORTED = 13,
  PERDURE_PEER_FAILED = 14, PERDURE_BUSY = 15, PERDURE_INTERNAL = 16, PERDURE_INCOMPLETE = 17
} perdure_status;
typedef enum perdure_level {
  PERDURE_LEVEL_NONE = 0, PERDURE_LEVEL_PROCESS = 1, PERDURE_LEVEL_NODE = 2, PERDURE_LEVEL_STORE = 3
} perdure_level;
typedef struct perdure_handle perdure_t;
typedef struct perdure_communicator {
  int rank;
  int size;
  void* context;
  int (*barrier)(void* context);
  int (*allreduce)(void* context, uint64_t* values, size_t count, int operation);
  int (*allgather)(void* context, const void* mine, size_t bytes, void* all);
  int (*broadcast)(void* context, void* data, size_t bytes, int root);
  void (*release)(void* context);
} perdure_communicator;
typedef struct perdure_region_size { uint64_t element_bytes; uint64_t count; } perdure_region_size;
typedef struct perdure_progress {
  uint64_t bytes_pending;
  uint64_t bytes_flushed;
  uint64_t versions_pending;
  uint64_t versions_failed;
  double flush_bytes_per_s;
  double last_blocking_s;
  double last_flush_s;
  double last_restore_s;
  uint64_t last_bytes;
  int64_t restored_version;
  int restore_source;
} perdure_progress;
perdure_status perdure_open(const char* options, perdure_t** out, char* message, size_t message_bytes);
perdure_status perdure_open_communicator(const perdure_communicator* communicator, const char* options,
                                         perdure_t** out, char* message, size_t message_bytes);
perdure_status perdure_protect(perdure_t* handle, int id, void* address, size_t element_bytes, size_t count);
perdure_status perdure_unprotect(perdure_t* handle, int id);
typedef int (*perdure_locate)(void* owner, void** address, size_t* count);
perdure_status perdure_follow(perdure_t* handle, int id, perdure_locate locate, void* owner);
perdure_status perdure_refuse_next(perdure_t* handle, int id, const char* why);
perdure_status perdure_protect_thread(perdure_t* handle, int id);
perdure_status perdure_describe(perdure_t* handle, int id, const char* name, const char* unit, const char* description);
perdure_status perdure_describe_elements(perdure_t* handle, int id, const char* type, int dimensions,
                                         const uint64_t* extents);
typedef enum perdure_presence { PERDURE_REQUIRED = 0, PERDURE_OPTIONAL = 1 } perdure_presence;
perdure_status perdure_set_presence(perdure_t* handle, int id, perdure_presence presence);
perdure_status perdure_was_restored(perdure_t* handle, int id, int* restored);
perdure_status perdure_renamed(perdure_t* handle, const char* before, const char* now);
perdure_status perdure_pass_over(perdure_t* handle, const char* region);
typedef struct perdure_array {
  const char* name;
  const char* type;
  int dimensions;
  const uint64_t* extents;
  const uint64_t* ghosts;
  int fill_ghosts;
  const char* unit;
  const char* description;
} perdure_array;
typedef struct perdure_box {
  void* address;
  const uint64_t* begin;
  const uint64_t* end;
  const int64_t* strides;
} perdure_box;
perdure_status perdure_protect_global(perdure_t* handle, int id, const perdure_array* array, const perdure_box* boxes,
                                      size_t count);
perdure_status perdure_block(perdure_t* handle, const perdure_array* array, const uint64_t* grid, uint64_t* begin,
                             uint64_t* end);
perdure_status perdure_protect_block(perdure_t* handle, int id, const perdure_array* array, const uint64_t* grid,
                                     void* address);
perdure_status perdure_protect_block_cyclic(perdure_t* handle, int id, const perdure_array* array, const uint64_t* grid,
                                            const uint64_t* lengths, void* address);
perdure_status perdure_protect_list(perdure_t* handle, int id, const perdure_array* array, void* address,
                                    uint64_t rows);
perdure_status perdure_protect_replicated(perdure_t* handle, int id, const perdure_array* array, void* address);
typedef struct perdure_array_info {
  int dimensions;
  uint64_t extents[8];
  uint64_t element_bytes;
  char name[72];
  char unit[72];
  char type[1024];
} perdure_array_info;
perdure_status perdure_stored_array(perdure_t* handle, const char* name, int64_t version, int id,
                                    perdure_array_info* info);
perdure_status perdure_checkpoint(perdure_t* handle, const char* name, int64_t version);
perdure_status perdure_latest(perdure_t* handle, const char* name, int64_t* version);
perdure_status perdure_stored_size(perdure_t* handle, const char* name, int64_t version, int id,
                                   perdure_region_size* size);
perdure_status perdure_restore(perdure_t* handle, const char* name, int64_t version);
perdure_status perdure_restore_branch(perdure_t* handle, const char* name, const char* branch, int64_t version);
typedef struct perdure_restored_info {
  char name[136];
  int64_t version;
  char branch[8];
  uint64_t created_ns;
  double age_s;
  int source;
  unsigned passed_over;
} perdure_restored_info;
perdure_status perdure_restored(perdure_t* handle, perdure_restored_info* info);
typedef struct perdure_passed_over_info {
  int64_t version;
  uint64_t created_ns;
  char why[1024];
} perdure_passed_over_info;
perdure_status perdure_passed_over(perdure_t* handle, unsigned which, perdure_passed_over_info* info);
perdure_status perdure_restore_regions(perdure_t* handle, const char* name, int64_t version, const int* ids,
                                       size_t count);
perdure_status perdure_restore_part(perdure_t* handle, const char* name, int64_t version, int rank, int id,
                                    void* address, size_t element_bytes, size_t count);
perdure_status perdure_wait(perdure_t* handle, const char* name, int64_t version, perdure_level level,
                            double timeout_s);
perdure_status perdure_level_reached(perdure_t* handle, const char* name, int64_t version, perdure_level* level);
perdure_status perdure_get_progress(perdure_t* handle, perdure_progress* progress);
perdure_status perdure_next_report(perdure_t* handle, char* text, size_t text_bytes);
perdure_status perdure_retire(perdure_t* handle, const char* name, int64_t version);
perdure_status perdure_any(perdure_t* handle, int here, int* any);
typedef enum perdure_due_reason {
  PERDURE_DUE_SIGNAL = 1, PERDURE_DUE_HALT = 2, PERDURE_DUE_END = 128
} perdure_due_reason;
perdure_status perdure_due(perdure_t* handle, unsigned* reasons);
perdure_status perdure_close(perdure_t** handle);
perdure_status perdure_close_early(perdure_t* handle, const char* why);
const char* perdure_error_text(perdure_t* handle);
int perdure_error_retryable(perdure_t* handle);
const char* perdure_status_name(perdure_status status);
const char* perdure_version(void);

typedef enum perdure_stored_state {
  PERDURE_STORED_COMPLETE = 0, PERDURE_STORED_INCOMPLETE = 1, PERDURE_STORED_DAMAGED = 2
} perdure_stored_state;
typedef struct perdure_stored_version {
  const char* name;
  int64_t version;
  perdure_stored_state state;
  const char* reason;
  uint64_t ranks;
  uint64_t bytes;
  uint64_t created_ns;
} perdure_stored_version;
typedef int (*perdure_version_visitor)(void* context, const perdure_stored_version* version);
perdure_status perdure_list_versions(const char* store_path, const char* name, perdure_version_visitor visit,
                                     void* context, char* message, size_t message_bytes);
typedef struct perdure_reader_handle perdure_reader_t;
typedef enum perdure_stored_kind {
  PERDURE_STORED_LOCAL = 0, PERDURE_STORED_ARRAY = 1, PERDURE_STORED_LIST = 2, PERDURE_STORED_REPLICATED = 3
} perdure_stored_kind;
typedef struct perdure_region_info {
  int id;
  perdure_stored_kind kind;
  const char* name;
  const char* type;
  const char* unit;
  const char* description;
  int dimensions;
  uint64_t extents[8];
  uint64_t element_bytes;
  uint64_t ranks;
  uint64_t bytes;
} perdure_region_info;
perdure_status perdure_open_reader(const char* store_path, const char* name, int64_t version, perdure_reader_t** out,
                                   char* message, size_t message_bytes);
perdure_status perdure_close_reader(perdure_reader_t** reader);
const char* perdure_reader_error_text(perdure_reader_t* reader);
perdure_status perdure_reader_version(perdure_reader_t* reader, int64_t* version, uint64_t* ranks);
perdure_status perdure_reader_region_count(perdure_reader_t* reader, size_t* count);
perdure_status perdure_reader_region(perdure_reader_t* reader, size_t index, perdure_region_info* info);
perdure_status perdure_reader_find(perdure_reader_t* reader, const char* region, size_t* index);
perdure_status perdure_reader_read(perdure_reader_t* reader, size_t index, const uint64_t* begin, const uint64_t* end,
                                   void* target, size_t target_bytes);
perdure_status perdure_reader_local_size(perdure_reader_t* reader, uint64_t rank, int id, perdure_region_size* size);
perdure_status perdure_reader_read_local(perdure_reader_t* reader, uint64_t rank, int id, uint64_t first,
                                         uint64_t count, void* target, size_t target_bytes);
perdure_status perdure_reader_verify(perdure_reader_t* reader);
typedef enum perdure_export_option { PERDURE_EXPORT_REPLACE = 1, PERDURE_EXPORT_UNVERIFIED = 2 } perdure_export_option;
perdure_status perdure_reader_export(perdure_reader_t* reader, const char* path, const char* const* regions,
                                     size_t count, int options);
"""
)

_SONAME = "libperdure.so." + ".".join(__version__.split(".")[: 2 if __version__.startswith("0.") else 1])


def _beside_the_package() -> Iterator[Path]:
    """Lists files that may be the library of the prefix into which this package, or this Python, is installed."""
    seen = set()
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    parents = [parent for parent in Path(__file__).resolve().parents if parent.name in ("lib", "lib64")]
    for folder in parents + [Path(sys.prefix) / "lib", Path(sys.prefix) / "lib64"]:
        for place in (folder, folder.parent / "lib64", folder / multiarch):
            if place not in seen:
                seen.add(place)
                yield place / _SONAME


def _candidates() -> List[str]:
    named = os.environ.get("PERDURE_LIBRARY")
    if named:  # the user means this one: another one in its place would only be confusing
        return [named]
    return [str(file) for file in _beside_the_package() if file.exists()] + [_SONAME]


def _load() -> Tuple[Any, str]:
    failures = []
    for candidate in _candidates():
        try:
            return ffi.dlopen(candidate), candidate
        except OSError as error:
            failures.append(f"  {candidate}: {error}")
    looked = [str(file) for file in _beside_the_package() if not file.exists()]
    raise ImportError(
        "perdure: the C library cannot be loaded. Tried:\n"
        + "\n".join(failures)
        + ("" if os.environ.get("PERDURE_LIBRARY") else "\nNot there: " + ", ".join(looked))
        + "\nInstall Perdure (make install PREFIX=...), then set PERDURE_LIBRARY to the path of its libperdure.so, or"
        " LD_LIBRARY_PATH to the folder that has it."
    )


def _check_version(found: str, place: str) -> None:
    """Before 1.0 a minor version may change structures, which would silently be misread."""
    if found.split(".")[:2] != __version__.split(".")[:2]:
        raise ImportError(
            f"perdure: this package is version {__version__}, and the C library {place} is version {found}. Install the"
            " package of the library's source tree (pip install ./fronts/python), or set PERDURE_LIBRARY to the library"
            " of this version."
        )


lib, library_path = _load()
library_version: str = ffi.string(lib.perdure_version()).decode()
_check_version(library_version, library_path)


def text_of(pointer: Any) -> str:
    """Gives a text of the library; "" of a null pointer."""
    return "" if pointer == ffi.NULL else ffi.string(pointer).decode("utf-8", "replace")
