#pragma once
// Compares one region of one rank in two runs, chunk by chunk.
#include <memory>
#include <optional>

#include "inspect/check_protection_verdict.hpp"
#include "segment/reader.hpp"

namespace perdure::inspect {

/// One rank's part of a version, and where its bytes are; without a piece the rank is not in that version.
struct StoredPiece {
  const segment::ByteSource* source = nullptr;
  const segment::Piece* piece = nullptr;
};

/// Compares the regions of one rank. Needs memory for one chunk of each run, and does not read it again for regions
/// that follow each other. Both pieces must outlive it.
class RegionComparison {
 public:
  RegionComparison(const StoredPiece& here, const StoredPiece& there);
  ~RegionComparison();
  RegionComparison(const RegionComparison&) = delete;
  RegionComparison& operator=(const RegionComparison&) = delete;
  /// Gives the difference of region `id`; nothing when it is the same bit by bit, or in neither. Chunks whose hashes
  /// are equal are not read; chunks that are read are verified.
  base::Result<std::optional<RegionDefect>> compare(std::int32_t id) { return compare(id, id); }
  /// Gives the difference of a region that has another number in each run; empty: that run does not have it.
  base::Result<std::optional<RegionDefect>> compare(std::optional<std::int32_t> here,
                                                    std::optional<std::int32_t> there);

 private:
  struct Run;
  std::unique_ptr<Run> here_, there_;
};

}  // namespace perdure::inspect
