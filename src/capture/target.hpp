#pragma once
// What a version is restored to (source.hpp).
#include "capture/source.hpp"

namespace perdure::capture {

using base::MemorySpan;

/// Used by one thread at a time.
class Target {
 public:
  virtual ~Target() = default;
  /// Compares what is stored with what is wanted, before anything is written. The ranges of the capture whose bytes are
  /// needed: ascending, without overlaps. PERDURE_NOT_FOUND or PERDURE_MISMATCH: it is not what is wanted, and this is
  /// the caller's mistake, not the version's.
  virtual base::Result<std::vector<ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) = 0;
  /// Memory to which the bytes of `range` may be copied before they are verified, so that they are copied once: spans
  /// that together are as long as the range. What turns out to be damaged is copied again from the next place that has
  /// it, or the restore fails. Without spans there is no such memory: then write() gets the bytes.
  virtual std::vector<MemorySpan> memory([[maybe_unused]] ChunkRange range) { return {}; }
  /// Verified bytes of `range`, in order of the ranges; those of a chunk of which anything is needed come as a whole.
  virtual base::Status write(ChunkRange range, base::ConstByteSpan bytes) = 0;
};

}  // namespace perdure::capture
