#pragma once
// What a version is restored to (source.hpp).
#include <optional>

#include "capture/source.hpp"

namespace perdure::capture {

using base::MemorySpan;

/// Used by one thread at a time.
class Target {
 public:
  virtual ~Target() = default;
  /// Before accept(): which attempt at a version it will be.
  virtual void comes_from([[maybe_unused]] const segment::VersionId& id) {}
  /// Compares what is stored with what is wanted, before anything is written. The ranges of the capture whose bytes are
  /// needed: ascending, without overlaps. PERDURE_NOT_FOUND or PERDURE_MISMATCH: it is not what is wanted, and this is
  /// the caller's mistake, not the version's.
  virtual base::Result<std::vector<ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) = 0;
  /// Memory to which the bytes of `range` may be copied before they are verified, so that they are copied once: spans
  /// that together are as long as the range. What turns out to be damaged is copied again from the next place that has
  /// it, or the restore fails. Without spans there is no such memory: then write() gets the bytes.
  virtual std::vector<MemorySpan> memory([[maybe_unused]] ChunkRange range) { return {}; }
  /// Asked before each chunk: a byte of the capture that somebody waits for. Its chunk comes next, if it is needed and
  /// has not come; else, and where nobody waits, the first one that has not.
  virtual std::optional<std::uint64_t> wanted() { return std::nullopt; }
  /// The next chunk may be read by another thread while write() has one: wanted() is asked before that, so that whoever
  /// waits is served a chunk later.
  virtual bool is_read_ahead() const { return false; }
  /// Verified bytes of `range`, in order of the ranges but for what was wanted; those of a chunk of which anything is
  /// needed come as a whole.
  virtual base::Status write(ChunkRange range, base::ConstByteSpan bytes) = 0;
};

}  // namespace perdure::capture
