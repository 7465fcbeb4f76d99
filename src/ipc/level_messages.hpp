#pragma once
// What is asked and told of how far versions are on their way to the levels `node` and `store`.
#include <optional>
#include <string>
#include <vector>

#include "ipc/message.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

struct StoreOutcome {
  bool held = false;  ///< this node has something of the version
  /// It was skipped, because retention would have removed it: this newer version of its name is in the store.
  std::optional<std::uint64_t> newer = {};
  PERDURE_FIELDS(held, newer)
};
/// Answered when this node's segments of the version are in the store, or can't be, or the time is over (0: no limit).
/// Of a version that this node does not hold the attempt may be said by its time only, or not at all (0).
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

/// So many attempts at versions of one name, the newest, are spoken of at most.
inline constexpr std::size_t kMostAttempts = 64;

struct AttemptsAtNodeLevel {
  std::vector<std::uint64_t> attempts_ns;  ///< the newest, ascending
  PERDURE_FIELDS(attempts_ns)
  std::string wrong() const { return attempts_ns.size() <= kMostAttempts ? "" : "field 'attempts_ns' is too long"; }
};
/// The attempts at versions of the name for which this node's group has reached level `node`, and for which this node
/// still has all of its part. These it gives up only when a later one supersedes them, or when the store has them.
struct AtNodeLevel {
  static constexpr const char* kName = "at_node_level";
  static constexpr Kind kKind = Kind::answered;
  using Reply = AttemptsAtNodeLevel;
  std::string name;
  PERDURE_FIELDS(name)
};
/// On all nodes this attempt has reached level `node`: nobody needs older ones to rebuild, but those in `keep`. This
/// is instead of what was said of the name before.
struct Superseded {
  static constexpr const char* kName = "superseded";
  static constexpr Kind kKind = Kind::one_way;
  std::string name;
  std::uint64_t attempt_ns = 0;     ///< 0: of this launch none is yet
  std::vector<std::uint64_t> keep;  ///< to be brought to level `node`, whatever newer ones a group has reached
  PERDURE_FIELDS(name, attempt_ns, keep)
  std::string wrong() const {
    return keep.size() <= kMostAttempts ? segment::VersionId{name, 0, {}}.wrong() : "field 'keep' is too long";
  }
};

struct FlushProgress {
  std::uint64_t bytes_pending = 0;
  std::uint64_t versions_pending = 0;
  std::uint64_t versions_failed = 0;
  std::uint64_t bytes_flushed = 0;
  std::uint64_t flush_bytes_per_s = 0;
  std::uint64_t last_flush_ns = 0;
  std::uint64_t bytes_moved = 0;  ///< chunks that flushes wrote, those of versions that are not whole yet too
  bool store_failing = false;     ///< the last flush failed
  PERDURE_FIELDS(bytes_pending, versions_pending, versions_failed, bytes_flushed, flush_bytes_per_s, last_flush_ns,
                 bytes_moved, store_failing)
};
struct Progress {
  static constexpr const char* kName = "progress";
  static constexpr Kind kKind = Kind::answered;
  using Reply = FlushProgress;
  PERDURE_FIELDS()
};

struct Drained {
  bool done = false;            ///< nothing is under way: what is left was given up
  std::uint64_t remaining = 0;  ///< versions that are not in the store
  std::uint64_t bytes = 0;      ///< of those that are still to be flushed
  std::uint64_t written = 0;    ///< of these, by the flushes that are under way
  std::string which;            ///< for people: names and numbers of what remains, of three names at most
  std::string why;              ///< the last flush of one of them failed, if one did
  PERDURE_FIELDS(done, remaining, bytes, written, which, why)
};
/// Answered when nothing is left to flush or retire, or all that is left was given up.
struct Drain {
  static constexpr const char* kName = "drain";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = Drained;
  std::uint64_t timeout_ns = 0;
  PERDURE_FIELDS(timeout_ns)
};

using LevelMessages = Messages<WaitStored, WaitNodeLevel, AtNodeLevel, Superseded, Progress, Drain>;

}  // namespace perdure::ipc
