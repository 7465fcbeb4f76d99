#pragma once
// Joins the manifests of all ranks to the content of a version. Pure.
#include <vector>

#include "reader/stored_region.hpp"

namespace perdure::reader {

/// The piece of one rank, and the listed segment that has it.
struct RankPart {
  segment::Piece piece;
  std::size_t segment = 0;
};

/// Everything ascends by id; within one id, by rank.
struct Joined {
  std::vector<StoredRegion> regions;
  std::vector<StoredArray> arrays;
  std::vector<LocalRegion> locals;
};

/// `parts[r]` is that of rank r. PERDURE_CORRUPT: a rank's description is invalid, or two ranks contradict each other;
/// the error names both. `object` is the version.
base::Result<Joined> join(const std::vector<RankPart>& parts, const std::string& object);

}  // namespace perdure::reader
