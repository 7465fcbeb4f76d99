#pragma once
// How long a restore waits for what nodes are to bring to the store: ranks of other nodes can have it from there only.
#include "client/job.hpp"

namespace perdure::client {

/// How much of this time between two looks counts: all of it, unless flushes moved something and do not fail. A flush
/// that fails moves the same chunks again and again. Pure.
std::uint64_t lost_between(const ipc::FlushProgress& before, const ipc::FlushProgress& now, std::uint64_t took_ns);

/// Of one call. Each wait returns when the store has this node's part of the version, when that was given up, or when
/// the time is over; false: it was over before. PERDURE_UNAVAILABLE: the engine is gone. [local]
class FlushWaits {
 public:
  explicit FlushWaits(Job& job);
  /// For what is in slots: 30 s for all versions together.
  base::Result<bool> await(const segment::VersionId& id);
  /// Of a version of which a part is in segments that are not published yet: time in which flushes fail or move nothing
  /// counts, for all versions together up to flush.give_up_after, and 30 s at least.
  base::Result<bool> await_half_flushed(const segment::VersionId& id);

 private:
  Job& job_;
  std::uint64_t patience_ns_;
  std::uint64_t waited_ns_ = 0;  // for what is in slots
  std::uint64_t lost_ns_ = 0;    // for what is half flushed
};

}  // namespace perdure::client
