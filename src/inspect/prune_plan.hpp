#pragma once
// What `perdure prune` would remove, and why; nothing is removed here.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "plan/retention.hpp"
#include "reader/inventory.hpp"

namespace perdure::inspect {

struct PruneAction {
  std::string what;  ///< "nbody version 3", or a path
  std::string why;
  std::uint64_t bytes = 0;
  std::function<base::Status()> act;
};

struct PrunePlan {
  std::vector<PruneAction> actions;
  std::vector<std::string> refused;  ///< asked for, but not done, and why
};

/// Reads every byte of a version; false when anything is wrong with it.
using DeepCheck = std::function<bool(const reader::VersionFacts&)>;

/// Applies the policy to the versions of one name. Before anything is given up, the version that everything would then
/// rest on, the newest complete one, is read whole; when it is damaged, it counts as incomplete and the next older one
/// is taken.
void plan_retention(store::Store& store, std::vector<reader::VersionFacts> facts, const plan::RetentionPolicy& policy,
                    const DeepCheck& check, PrunePlan& plan);

/// Removes versions of one name on request; refuses if no other verified version of it would be left, unless
/// `even_the_last`. PERDURE_NOT_FOUND for a version that is not there.
base::Status plan_removal(store::Store& store, const std::string& name, const std::vector<reader::VersionFacts>& facts,
                          const std::set<std::uint64_t>& versions, bool even_the_last, const DeepCheck& check,
                          PrunePlan& plan);

}  // namespace perdure::inspect
