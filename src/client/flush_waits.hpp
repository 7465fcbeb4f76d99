#pragma once
// Bounds how long a restore waits for flushes: ranks of other nodes can have a version from the store only.
#include "client/job.hpp"

namespace perdure::client {

/// How much of this time between two looks counts: all of it, unless flushes moved something and do not fail. A flush
/// that fails moves the same chunks again and again. Pure.
std::uint64_t lost_between(const ipc::FlushProgress& before, const ipc::FlushProgress& now, std::uint64_t took_ns);

/// The waits of one call. Each returns when the store has this node's part of the version, when that flush was
/// abandoned, or when the time is over. False: the time was over before. Fails with PERDURE_UNAVAILABLE if the engine
/// is gone. [local]
class FlushWaits {
 public:
  explicit FlushWaits(Job& job);
  /// Waits for a version in slots: 30 s for all versions together.
  base::Result<bool> await(const segment::VersionId& id);
  /// Waits for a version that is partly in unpublished segments. Time in which flushes fail or move nothing counts, for
  /// all versions together up to flush.give_up_after, and 30 s at least.
  base::Result<bool> await_half_flushed(const segment::VersionId& id);

 private:
  Job& job_;
  std::uint64_t patience_ns_;
  std::uint64_t waited_ns_ = 0;  // for versions in slots
  std::uint64_t lost_ns_ = 0;    // for half flushed versions
};

}  // namespace perdure::client
