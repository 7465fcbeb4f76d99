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
  bool present = false;   ///< every segment is there: whatever is wrong with it, its line is not over
};

struct RetentionDecision {
  std::vector<segment::VersionId> remove;
  segment::VersionId newest = {};  ///< of the complete ones: what the others may be given up for
  bool unfinished = false;         ///< of something newer than `newest` parts are still to come: look again later
  bool late = false;               ///< of something older, which is kept, parts may come: look again, but not for long
};

/// A node may bring its part of an attempt after a newer attempt is complete: it was hindered, or the listing saw the
/// older directory before the part came and the newer one after it. So an incomplete attempt is given up only where the
/// policy would give up a complete one in its place (plan::retire). Other runs' branches are left alone. `aside`: what
/// was set aside, by which readers know the current line, too; nothing of it is given up.
RetentionDecision decide_retention(const plan::RetentionPolicy& policy, const std::vector<JudgedListing>& listings,
                                   const std::vector<plan::Fork>& forks = {},
                                   const std::vector<segment::VersionId>& aside = {});

}  // namespace perdure::engine
