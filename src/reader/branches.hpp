#pragma once
// Which versions of a name in a store go on, and which are of branches that were left: one answer for all who ask what
// is newest, and what a plain number means. (docs/adr/0052)
#include <optional>
#include <string>
#include <vector>

#include "plan/lineage.hpp"
#include "store/store.hpp"

namespace perdure::reader {

struct Branches {
  std::vector<plan::Fork> forks = {};
  plan::Branch current = plan::kFirstBranch;  ///< of the newest attempt that is, or was, complete
  plan::Line line = {};                       ///< of it; empty: nothing was ever complete, and all attempts count
  std::optional<base::Error> damage = {};     ///< of the record of forks: what the line went on from is not known
  /// Of that branch and what it went on from; without one, of the current line.
  bool has(const segment::VersionId& id, const std::optional<plan::Branch>& branch = std::nullopt) const;
};

/// `listings`: what the store lists of `name`.
base::Result<Branches> branches_of(store::Store& store, const std::string& name,
                                   const std::vector<store::VersionListing>& listings);

/// Those of this branch, or of the current line, the newest first: what was begun later is newer.
std::vector<store::VersionListing> newest_first(const std::vector<store::VersionListing>& listings,
                                                const Branches& branches,
                                                const std::optional<plan::Branch>& branch = std::nullopt);

/// "nbody@3f9a12:12", which every verb takes.
std::string branch_spec(const segment::VersionId& id);

}  // namespace perdure::reader
