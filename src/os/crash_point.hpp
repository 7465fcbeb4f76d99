#pragma once
// Names the places at which a test can kill the process as if by kill -9. The table is complete: tests enumerate it.
#include <array>
#include <atomic>
#include <string_view>

#include "base/result.hpp"

namespace perdure::os {

// Columns: the enumerator; the role that reaches it (rank or engine; redundancy: an engine with other nodes).
#define PERDURE_CRASH_POINTS(X)           \
  X(checkpoint_begin, rank)               \
  X(checkpoint_agreed, rank)              \
  X(checkpoint_slot_granted, rank)        \
  X(checkpoint_chunk_half, rank)          \
  X(checkpoint_chunk_written, rank)       \
  X(checkpoint_before_stage, rank)        \
  X(checkpoint_staged, rank)              \
  X(checkpoint_before_commit, rank)       \
  X(checkpoint_committed, rank)           \
  X(restore_begin, rank)                  \
  X(restore_located, rank)                \
  X(restore_chunk, rank)                  \
  X(restore_before_agree, rank)           \
  X(restore_done, rank)                   \
  X(engine_inventory, engine)             \
  X(engine_locate, engine)                \
  X(engine_grant, engine)                 \
  X(engine_written, engine)               \
  X(engine_stage_before_catalog, engine)  \
  X(engine_stage_after_catalog, engine)   \
  X(spill_before_catalog, engine)         \
  X(spill_after_catalog, engine)          \
  X(engine_commit_before_catalog, engine) \
  X(engine_commit_after_catalog, engine)  \
  X(flush_begin, engine)                  \
  X(flush_created, engine)                \
  X(flush_chunk, engine)                  \
  X(flush_before_sync, engine)            \
  X(flush_before_rename, engine)          \
  X(flush_after_rename, engine)           \
  X(flush_before_catalog, engine)         \
  X(flush_after_catalog, engine)          \
  X(retire_begin, engine)                 \
  X(retire_hidden, engine)                \
  X(retire_half_deleted, engine)          \
  X(retire_done, engine)                  \
  X(evict_before_catalog, engine)         \
  X(evict_after_catalog, engine)          \
  X(catalog_compact_written, engine)      \
  X(catalog_compact_renamed, engine)      \
  X(keep_before_catalog, redundancy)      \
  X(keep_after_catalog, redundancy)       \
  X(reached_after_catalog, redundancy)    \
  X(export_answered, redundancy)          \
  X(recover_before_catalog, redundancy)   \
  X(recover_after_catalog, redundancy)

/// Only tools reach these points: perdure export, import, capture and resume, and the library code below them.
#define PERDURE_TOOL_CRASH_POINTS(X) \
  X(export_begun, tool)              \
  X(export_chunk, tool)              \
  X(export_finished, tool)           \
  X(export_described, tool)          \
  X(export_before_rename, tool)      \
  X(export_after_rename, tool)       \
  X(export_replaced, tool)           \
  X(import_begun, tool)              \
  X(import_chunk, tool)              \
  X(import_before_commit, tool)      \
  X(import_committed, tool)          \
  X(precopy_to_follow, tool)         \
  X(precopy_followed, tool)          \
  X(precopy_round, tool)             \
  X(precopy_copied, tool)            \
  X(precopy_listed, tool)            \
  X(precopy_to_hold, tool)           \
  X(precopy_completed, tool)         \
  X(precopy_released, tool)          \
  X(process_held, tool)              \
  X(borrow_linked, tool)             \
  X(increment_borrowed, tool)        \
  X(process_read, tool)              \
  X(process_proved, tool)            \
  X(process_copied, tool)            \
  X(process_to_release, tool)        \
  X(process_released, tool)          \
  X(resume_begun, tool)              \
  X(resume_mapped, tool)             \
  X(resume_written, tool)            \
  X(resume_finished, tool)           \
  X(resume_released, tool)           \
  X(lazy_registered, tool)           \
  X(lazy_placed, tool)               \
  X(lazy_complete, tool)             \
  X(lazy_over, tool)

enum class CrashPoint {
#define X(name, role) name,
  PERDURE_CRASH_POINTS(X) PERDURE_TOOL_CRASH_POINTS(X)
#undef X
      count
};

struct CrashPointInfo {
  std::string_view name;
  std::string_view role;  ///< "rank", "engine", "redundancy" or "tool"
};
#define X(name, role) CrashPointInfo{#name, #role},
/// Points by number; those of tools come after the others.
inline constexpr std::array kCrashPoints = {PERDURE_CRASH_POINTS(X)};
inline constexpr std::array kToolCrashPoints = {PERDURE_TOOL_CRASH_POINTS(X)};
#undef X
inline constexpr std::string_view crash_point_name(CrashPoint point) {
  const auto number = static_cast<std::size_t>(point);
  return number < kCrashPoints.size() ? kCrashPoints[number].name : kToolCrashPoints[number - kCrashPoints.size()].name;
}

/// Arms one point of this process: the `hit`-th time (1 = first) a thread reaches it, the process kills itself with
/// SIGKILL.
void arm_crash_point(CrashPoint point, int hit);
/// Arms the point that PERDURE_TEST_CRASH="<point>[:<hit>]" names, if set. Handles and engines call it when they start.
/// A second call with the same value does not start counting again. Fails with PERDURE_INVALID_ARGUMENT for an unknown
/// point or a bad hit. With PERDURE_TEST_CRASH_MARKER set, the process creates the file of that name before it dies.
/// With PERDURE_TEST_CRASH_STOPS set it stops instead (SIGSTOP), until SIGCONT.
base::Status arm_crash_point_from_environment();

extern std::atomic<int> armed_crash_point;
void crash_point_reached(CrashPoint point);

inline void crash_point(CrashPoint point) {
  if (armed_crash_point.load(std::memory_order_relaxed) == static_cast<int>(point)) crash_point_reached(point);
}

}  // namespace perdure::os
