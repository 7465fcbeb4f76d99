#pragma once
// Which attempts in the store are to be given up. Pure.
#include <vector>

#include "plan/retention.hpp"
#include "store/store.hpp"

namespace perdure::engine {

/// A listing with its manifests judged.
struct JudgedListing {
  segment::VersionId id;
  bool complete = false;  ///< every segment is there; the newest one was verified to manifest level
  bool damaged = false;   ///< every segment is there, but they do not verify: nothing more is to come
};

struct RetentionDecision {
  std::vector<segment::VersionId> remove;
  segment::VersionId newest = {};  ///< of the complete ones: what the others may be given up for
  bool unfinished = false;  ///< something newer than the newest complete version is still arriving: look again later
};

/// Attempts newer than the newest complete one are still being written by some node and are never touched. Of a version
/// with several complete attempts the newest stays.
RetentionDecision decide_retention(const plan::RetentionPolicy& policy, const std::vector<JudgedListing>& listings);

}  // namespace perdure::engine
