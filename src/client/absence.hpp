#pragma once
// Says why a restore finds nothing. PERDURE_NOT_FOUND makes a program begin anew. So it is returned only if nothing of
// the name is in the store, on a node, or set aside. Pure.
#include <optional>
#include <string>
#include <vector>

#include "plan/lineage.hpp"
#include "store/store.hpp"

namespace perdure::client {

struct Evidence {
  std::vector<store::QuarantinedSegment> aside;  ///< damaged segments of the name that are in quarantine
  std::vector<segment::VersionId> in_store;      ///< attempts with data in the store
  std::vector<segment::VersionId> on_nodes;      ///< attempts that engines hold
  std::vector<segment::VersionId> failed = {};   ///< attempts that failed verification in this call
  /// Attempts with a part on a tier that an engine cannot reach.
  std::vector<segment::VersionId> unreachable = {};
};

/// The error for version `version` of `name`; negative: for any. PERDURE_NOT_FOUND: nothing of it exists.
/// PERDURE_CORRUPT: some of it was set aside, or failed verification just now. PERDURE_INCOMPLETE: every attempt lacks
/// parts.
base::Error absence(const std::string& name, std::int64_t version, const Evidence& evidence);

/// The versions of a name, in the store and on nodes.
struct VersionsOfName {
  std::vector<segment::VersionId> of_line;    ///< versions on the requested branch, or on the current line
  std::vector<segment::VersionId> elsewhere;  ///< versions on other branches
  bool remains = false;                       ///< parts that were never committed, or were set aside
  bool any() const { return remains || !of_line.empty() || !elsewhere.empty(); }
};
/// PERDURE_MISMATCH: the name has versions, so this is no first start. But `branch`, or the current line, lacks version
/// `version` (negative: any). The text lists the existing versions.
base::Error no_such_version(const std::string& name, std::int64_t version, std::optional<plan::Branch> branch,
                            const VersionsOfName& there);

/// PERDURE_MISMATCH: `other` ranks wrote `object`, there are `ranks` now, and it has memory of one rank, which cannot
/// be reassigned. `local`: such a region; empty: not known.
base::Error written_by_others(const std::string& object, std::uint32_t other, std::uint32_t ranks,
                              const std::string& local);

/// Adds a hint to `error` if a branch that was left has the requested version. Then this is no first start.
void add_left_branch(std::int64_t version, const VersionsOfName& there, base::Error& error);

}  // namespace perdure::client
