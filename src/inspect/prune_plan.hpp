#pragma once
// Plans the removals of `perdure prune`, with the reasons; it removes nothing itself.
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/cbor.hpp"
#include "plan/retention.hpp"
#include "reader/branches.hpp"
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
  std::vector<std::string> refused;  ///< requests that were refused, and why
  std::shared_ptr<const base::Json> directories =
      {};  ///< directories of engines on this machine; nullptr: they were not asked for
};

/// Reads every byte of a version; false when any of it is damaged.
using DeepCheck = std::function<bool(const reader::VersionFacts&)>;

/// All versions of one name, and the lines they are on.
struct NameFacts {
  std::vector<reader::VersionFacts> versions;
  reader::Branches branches;
};
/// PERDURE_MISMATCH: its directory was renamed, so nobody can say which versions are complete.
base::Result<NameFacts> name_facts(store::Store& store, const std::string& name);

/// Applies the policy to the versions of one name, to each branch by itself. Before anything is given up, the newest
/// complete version is read whole, because everything there would then rest on it. When it is damaged, it counts as
/// incomplete and the next older one is taken.
void plan_retention(store::Store& store, NameFacts facts, const plan::RetentionPolicy& policy, const DeepCheck& check,
                    PrunePlan& plan);

/// Versions of one name: on a branch, or, without one, on the current line.
struct VersionWish {
  std::string name;
  std::optional<plan::Branch> branch;
  std::set<std::uint64_t> versions;
};
/// Removes them on request. Refuses if no other verified version of the name would be left, unless `even_the_last`.
/// PERDURE_NOT_FOUND for a version that is not there.
base::Status plan_removal(store::Store& store, const VersionWish& wish, const NameFacts& facts, bool even_the_last,
                          const DeepCheck& check, PrunePlan& plan);

/// Removes all of the branches that were left. Refuses if the current line has no version that verifies, or if its
/// origin is not known. A branch with a version newer than all complete ones is left alone: it may be arriving.
void plan_left_branches(store::Store& store, const NameFacts& facts, const DeepCheck& check, PrunePlan& plan);

}  // namespace perdure::inspect
