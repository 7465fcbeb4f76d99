#pragma once
// Why a restore finds nothing. A program begins anew when it is told that there is nothing, so that this is said only
// where there is nothing of that name: not in the store, not on a node, and nothing was set aside. Pure.
#include <optional>
#include <string>
#include <vector>

#include "plan/lineage.hpp"
#include "store/store.hpp"

namespace perdure::client {

struct Evidence {
  std::vector<store::QuarantinedSegment> aside;  ///< damaged segments of the name that are in quarantine
  std::vector<segment::VersionId> in_store;      ///< attempts of which the store has something
  std::vector<segment::VersionId> on_nodes;      ///< attempts of which engines hold something
  std::vector<segment::VersionId> failed = {};   ///< attempts that failed verification in this call
  /// Attempts of which an engine has a part on a tier that it cannot reach.
  std::vector<segment::VersionId> unreachable = {};
};

/// For version `version` of `name`; negative: for any. PERDURE_NOT_FOUND: of this there is nothing. PERDURE_CORRUPT:
/// some of it was set aside, or failed verification just now. PERDURE_INCOMPLETE: parts of all that there is are
/// missing.
base::Error absence(const std::string& name, std::int64_t version, const Evidence& evidence);

/// What there is of a name, in the store and on nodes.
struct VersionsOfName {
  std::vector<segment::VersionId> of_line;    ///< of the branch that was asked for, or of the current line
  std::vector<segment::VersionId> elsewhere;  ///< of other branches
  bool remains = false;                       ///< parts that were never committed, or were set aside
  bool any() const { return remains || !of_line.empty() || !elsewhere.empty(); }
};
/// PERDURE_MISMATCH: there is something of the name, so that it is no first start, but not version `version` (negative:
/// any), of `branch` or of the current line. The text says what there is.
base::Error no_such_version(const std::string& name, std::int64_t version, std::optional<plan::Branch> branch,
                            const VersionsOfName& there);

/// PERDURE_MISMATCH: `object` was written by `other` ranks, there are `ranks` now, and of memory of one rank nobody
/// could say whose it is. `local`: a region that is such memory; empty: it is not known.
base::Error written_by_others(const std::string& object, std::uint32_t other, std::uint32_t ranks,
                              const std::string& local);

/// Of what was asked for, a branch that was left may have something. Where it does, it is no first start.
void add_left_branch(std::int64_t version, const VersionsOfName& there, base::Error& error);

}  // namespace perdure::client
