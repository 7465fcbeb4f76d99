#pragma once
// Tells which versions of a name in a store are on the current line, and which on branches that were left. All callers
// share this answer to what is newest, and what a plain number means. (docs/adr/0052)
#include <optional>
#include <string>
#include <vector>

#include "plan/lineage.hpp"
#include "store/store.hpp"

namespace perdure::reader {

struct Branches {
  std::vector<plan::Fork> forks = {};
  plan::Branch current = plan::kFirstBranch;  ///< of the newest attempt that is, or was, complete
  plan::Line line = {};                       ///< its line; empty: no attempt was ever complete, and all count
  std::optional<base::Error> damage = {};     ///< of the record of forks: the line's earlier branches are unknown
  /// Whether the version is on that branch or its line; without a branch, on the current line.
  bool has(const segment::VersionId& id, const std::optional<plan::Branch>& branch = std::nullopt) const;
};

/// `listings` is the store's list of `name`.
base::Result<Branches> branches_of(store::Store& store, const std::string& name,
                                   const std::vector<store::VersionListing>& listings);

/// Returns those of this branch, or of the current line, the newest first: the later attempt is newer.
std::vector<store::VersionListing> newest_first(const std::vector<store::VersionListing>& listings,
                                                const Branches& branches,
                                                const std::optional<plan::Branch>& branch = std::nullopt);

/// Returns "nbody@3f9a12:12", which every verb takes.
std::string branch_spec(const segment::VersionId& id);

}  // namespace perdure::reader
