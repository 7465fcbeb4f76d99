#pragma once
// Why a restore finds nothing. A program begins anew when it is told that there is nothing, so that this is said only
// where there is nothing of that name: not in the store, not on a node, and nothing was set aside. Pure.
#include <optional>
#include <string>
#include <vector>

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

}  // namespace perdure::client
