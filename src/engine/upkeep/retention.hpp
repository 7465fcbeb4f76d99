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
  bool unfinished = false;         ///< something may still be arriving: look again later
};

/// An attempt that is not complete may still be brought by some node, also when a newer one is complete already: nodes
/// flush several versions at once, and one that is hindered does so later. It is given up when it would be if it were
/// complete (plan::retire).
RetentionDecision decide_retention(const plan::RetentionPolicy& policy, const std::vector<JudgedListing>& listings);

}  // namespace perdure::engine
