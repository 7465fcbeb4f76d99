#pragma once
// What is asked and told of how far versions are on their way to the levels `node` and `store`.
#include <string>

#include "ipc/message.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

struct StoreOutcome {
  bool held = false;  ///< this node has something of the version
  PERDURE_FIELDS(held)
};
/// Answered when this node's segments of the version are in the store, or can't be, or the time is over (0: no limit).
struct WaitStored {
  static constexpr const char* kName = "wait_stored";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = StoreOutcome;
  segment::VersionId id;
  std::uint64_t timeout_ns = 0;
  PERDURE_FIELDS(id, timeout_ns)
};

struct NodeLevelOutcome {
  bool reached = false;
  PERDURE_FIELDS(reached)
};
/// Answered when this node's group keeps what it needs of the version, or can't, or the time is over (0: no limit).
struct WaitNodeLevel {
  static constexpr const char* kName = "wait_node_level";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = NodeLevelOutcome;
  segment::VersionId id;
  std::uint64_t timeout_ns = 0;
  PERDURE_FIELDS(id, timeout_ns)
};

struct NewestAttempt {
  std::uint64_t attempt_ns = 0;  ///< 0: none
  PERDURE_FIELDS(attempt_ns)
};
/// The newest version of the name that has reached level `node` in this node's group.
struct NewestAtNodeLevel {
  static constexpr const char* kName = "newest_at_node_level";
  static constexpr Kind kKind = Kind::answered;
  using Reply = NewestAttempt;
  std::string name;
  PERDURE_FIELDS(name)
};
/// On all nodes the version of this attempt has reached level `node`: nobody needs older ones to rebuild.
struct Superseded {
  static constexpr const char* kName = "superseded";
  static constexpr Kind kKind = Kind::one_way;
  std::string name;
  std::uint64_t attempt_ns = 0;
  PERDURE_FIELDS(name, attempt_ns)
};

struct FlushProgress {
  std::uint64_t bytes_pending = 0;
  std::uint64_t versions_pending = 0;
  std::uint64_t versions_failed = 0;
  std::uint64_t bytes_flushed = 0;
  std::uint64_t flush_bytes_per_s = 0;
  std::uint64_t last_flush_ns = 0;
  PERDURE_FIELDS(bytes_pending, versions_pending, versions_failed, bytes_flushed, flush_bytes_per_s, last_flush_ns)
};
struct Progress {
  static constexpr const char* kName = "progress";
  static constexpr Kind kKind = Kind::answered;
  using Reply = FlushProgress;
  PERDURE_FIELDS()
};

struct Drained {
  std::uint64_t remaining = 0;  ///< versions that are not in the store
  std::uint64_t bytes = 0;      ///< of those that are still to be flushed
  std::string why;              ///< the last flush of one of them failed, if one did
  PERDURE_FIELDS(remaining, bytes, why)
};
/// Answered when nothing is left to flush or retire, or all that is left was given up.
struct Drain {
  static constexpr const char* kName = "drain";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Drained;
  std::uint64_t timeout_ns = 0;
  PERDURE_FIELDS(timeout_ns)
};

using LevelMessages = Messages<WaitStored, WaitNodeLevel, NewestAtNodeLevel, Superseded, Progress, Drain>;

}  // namespace perdure::ipc
