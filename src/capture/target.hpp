#pragma once
// A version is restored to a target (source.hpp).
#include <optional>

#include "capture/source.hpp"

namespace perdure::capture {

using base::MemorySpan;

/// One thread at a time uses it.
class Target {
 public:
  virtual ~Target() = default;
  /// Called before accept(): names the attempt at a version.
  virtual void comes_from([[maybe_unused]] const segment::VersionId& id) {}
  /// Compares the stored entries with the wanted ones, before anything is written. Returns the needed ranges of the
  /// capture: ascending, without overlaps. PERDURE_NOT_FOUND or PERDURE_MISMATCH: the version is not the wanted one,
  /// which is the caller's mistake, not the version's.
  virtual base::Result<std::vector<ChunkRange>> accept(const std::vector<segment::RegionEntry>& stored) = 0;
  /// Returns memory for the bytes of `range`, which may be copied there before they are verified, so that they are
  /// copied once. The spans are together as long as the range. Damaged bytes are copied again from the next source, or
  /// the restore fails. Empty: there is no such memory, and write() gets the bytes.
  virtual std::vector<MemorySpan> memory([[maybe_unused]] ChunkRange range) { return {}; }
  /// Called before each chunk: returns a byte of the capture that a thread waits for. Its chunk comes next, if it is
  /// needed and has not come. Otherwise, or if nobody waits, the first missing one comes.
  virtual std::optional<std::uint64_t> wanted() { return std::nullopt; }
  /// Whether another thread may read the next chunk while write() has one. wanted() is called before that, so a waiting
  /// thread is served one chunk later.
  virtual bool is_read_ahead() const { return false; }
  /// Takes verified bytes of `range`, in order of the ranges except for wanted ones. A chunk comes as a whole if any of
  /// it is needed.
  virtual base::Status write(ChunkRange range, base::ConstByteSpan bytes) = 0;
};

}  // namespace perdure::capture
