#pragma once
// Reads every byte of a store, in several threads, and collects the defects.
#include <functional>
#include <string>
#include <vector>

#include "inspect/residue.hpp"
#include "reader/inventory.hpp"
#include "segment/reader.hpp"

namespace perdure::inspect {

struct Finding {
  std::string file;  ///< absolute path
  std::uint64_t offset = 0;
  std::string rank;  ///< "3", "0-3" when it concerns several ranks, "unknown"
  std::int64_t chunk = -1;
  base::Error error;
};

struct SegmentTask {
  store::SegmentRef ref;
  segment::VersionId id;
  std::uint64_t bytes = 0;
};

struct AuditPlan {
  std::vector<store::VersionListing> versions;
  std::vector<SegmentTask> segments;  ///< largest first, so that the threads end together
  std::uint64_t bytes = 0;
};

struct AuditResult {
  std::vector<Finding> defects;         ///< by file and offset
  std::vector<std::string> incomplete;  ///< versions, with their missing parts
  std::uint64_t segments = 0, versions = 0;
};

/// Plans to read everything of `name` (empty: of all names). `version`, if given, limits it to that version, on all
/// branches or on `branch`.
base::Result<AuditPlan> plan_audit(store::Store& store, const std::string& name, std::optional<std::uint64_t> version,
                                   std::optional<plan::Branch> branch = std::nullopt);

/// Adds the segments that the plan's versions borrow from others. It leaves out files that are read anyway, and adds
/// each file once.
base::Status plan_borrowed(store::Store& store, AuditPlan& plan);

AuditResult audit(store::Store& store, const AuditPlan& plan, unsigned threads,
                  const std::function<void(std::uint64_t)>& progress);

}  // namespace perdure::inspect
