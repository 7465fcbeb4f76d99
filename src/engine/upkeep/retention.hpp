#pragma once
// Decides which attempts in the store are given up. Pure.
#include <vector>

#include "plan/retention.hpp"
#include "store/store.hpp"

namespace perdure::engine {

/// A listing with its manifests judged.
struct JudgedListing {
  segment::VersionId id;
  bool complete = false;  ///< every segment is there; the newest one was verified to manifest level
  bool damaged = false;   ///< every segment is there, but they do not verify, so no more parts will come
  bool present = false;   ///< every segment is there; damaged or not, its line is not over
};

struct RetentionDecision {
  std::vector<segment::VersionId> remove;
  segment::VersionId newest = {};  ///< newest complete one, for which the others may be given up
  bool unfinished = false;         ///< a version newer than `newest` still lacks parts: look again later
  bool late = false;               ///< a kept older version may still get parts: look again, but not for long
};

/// A node may store its part of an attempt after a newer attempt is complete. It was delayed, or the listing read the
/// older directory too early. So an incomplete attempt is given up only if the policy would give up a complete one in
/// its place (plan::retire).
/// Other runs' branches are left alone. `aside`: quarantined versions, by which readers know the current line, too;
/// none of them is given up.
RetentionDecision decide_retention(const plan::RetentionPolicy& policy, const std::vector<JudgedListing>& listings,
                                   const std::vector<plan::Fork>& forks = {},
                                   const std::vector<segment::VersionId>& aside = {});

}  // namespace perdure::engine
