#pragma once
// From what each rank's manifest says to what a version consists of. Pure.
#include <vector>

#include "reader/stored_region.hpp"

namespace perdure::reader {

/// The piece of one rank, and which of the listed segments has it.
struct RankPart {
  segment::Piece piece;
  std::size_t segment = 0;
};

/// Everything ascending by id; of one id, by rank.
struct Joined {
  std::vector<StoredRegion> regions;
  std::vector<StoredArray> arrays;
  std::vector<LocalRegion> locals;
};

/// `parts[r]` is of rank r. PERDURE_CORRUPT when what a rank says makes no sense, or two ranks contradict each other:
/// the error names both. `object` is the version.
base::Result<Joined> join(const std::vector<RankPart>& parts, const std::string& object);

}  // namespace perdure::reader
