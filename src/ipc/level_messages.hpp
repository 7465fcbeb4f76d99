#pragma once
// Clients and engines exchange these messages about the way of versions to the levels `node` and `store`.
#include <optional>
#include <string>
#include <vector>

#include "ipc/message.hpp"
#include "segment/manifest.hpp"

namespace perdure::ipc {

struct StoreOutcome {
  bool held = false;  ///< this node holds a part of the version
  /// The version was skipped, because retention would have removed it. This newer version of its name is in the store.
  std::optional<std::uint64_t> newer = {};
  PERDURE_FIELDS(held, newer)
};
/// Answered when this node's segments of the version are in the store, or cannot get there, or the time is over (0: no
/// limit). For a version that this node does not hold, only the attempt's time needs to be given, or 0 for any attempt.
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
/// Answered when this node's group keeps its redundancy of the version, or cannot, or the time is over (0: no limit).
struct WaitNodeLevel {
  static constexpr const char* kName = "wait_node_level";
  static constexpr Kind kKind = Kind::may_wait;
  using Reply = NodeLevelOutcome;
  segment::VersionId id;
  std::uint64_t timeout_ns = 0;
  PERDURE_FIELDS(id, timeout_ns)
};

/// The maximum number of attempts of one name in a message; the newest ones count.
inline constexpr std::size_t kMostAttempts = 64;

struct AttemptsAtNodeLevel {
  std::vector<std::uint64_t> attempts_ns;  ///< the newest, ascending
  PERDURE_FIELDS(attempts_ns)
  std::string wrong() const { return attempts_ns.size() <= kMostAttempts ? "" : "field 'attempts_ns' is too long"; }
};
/// Asks for the attempts of the name that this node's group has brought to level `node`. This node must still have all
/// of its part. It drops these only when a later one supersedes them, or when the store has them.
struct AtNodeLevel {
  static constexpr const char* kName = "at_node_level";
  static constexpr Kind kKind = Kind::answered;
  using Reply = AttemptsAtNodeLevel;
  std::string name;
  PERDURE_FIELDS(name)
};
/// This attempt has reached level `node` on all nodes, so older ones are not needed to rebuild, except those in `keep`.
/// Replaces earlier messages about the name.
struct Superseded {
  static constexpr const char* kName = "superseded";
  static constexpr Kind kKind = Kind::one_way;
  std::string name;
  std::uint64_t attempt_ns = 0;     ///< 0: no attempt of this launch has yet
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
  bool done = false;            ///< no work is left: the remaining versions were given up
  std::uint64_t remaining = 0;  ///< versions that are not in the store
  std::uint64_t bytes = 0;      ///< of versions that are still to be flushed
  std::uint64_t written = 0;    ///< part of `bytes` that running flushes have written
  std::string which;            ///< for people: names and numbers of the remaining versions, of three names at most
  std::string why;              ///< the error of a remaining version's last flush, if one failed
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
