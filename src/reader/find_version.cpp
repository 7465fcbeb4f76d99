#include <algorithm>

#include "reader/branches.hpp"
#include "reader/inventory.hpp"
#include "reader/stored_content.hpp"
#include "segment/version_ranges.hpp"

namespace perdure::reader {
namespace {

// The name exists, so the error must not say that it does not. A branch that was left may have the version.
base::Error not_on_the_line(const std::vector<store::VersionListing>& all,
                            const std::vector<store::VersionListing>& of_line, const std::string& object,
                            std::optional<std::uint64_t> version, const std::string& location) {
  base::Error error{PERDURE_MISMATCH, object, "no such checkpoint in " + location, "", false};
  std::vector<std::uint64_t> versions;
  for (const auto& one : of_line) versions.push_back(one.id.version);
  error.remedy = segment::versions_there(std::move(versions));
  const store::VersionListing* newest = nullptr;
  for (const auto& one : all)
    if ((!version || of_line.empty() || one.id.version == *version) &&
        (newest == nullptr || newest->id.attempt < one.id.attempt))
      newest = &one;
  if (newest == nullptr) return error;
  error.cause = "no such checkpoint on this branch, in " + location;
  error.remedy +=
      std::string(error.remedy.empty() ? "" : "; ") +
      (version && newest->id.version == *version ? "a branch that was left has it: " : "another branch has ") +
      branch_spec(newest->id);
  return error;
}

}  // namespace

base::Result<store::VersionListing> find_version(store::Store& store, const std::string& name,
                                                 std::optional<std::uint64_t> version,
                                                 std::optional<plan::Branch> branch) {
  const std::string object = version ? name + " version " + std::to_string(*version) : name;
  auto listed = store.list(name);
  if (!listed && listed.error().code != PERDURE_NOT_FOUND) return base::fail(listed.error());
  const auto all = listed ? std::move(*listed) : std::vector<store::VersionListing>();
  if (all.empty())
    return base::fail(PERDURE_NOT_FOUND, object, "no such checkpoint in " + store.properties().location,
                      "perdure ls lists what is there");
  PERDURE_TRY(const Branches branches, branches_of(store, name, all));
  auto chosen = newest_first(all, branches, branch);
  const auto of_line = chosen;
  if (version) std::erase_if(chosen, [&](const auto& one) { return one.id.version != *version; });
  if (chosen.empty()) return base::fail(not_on_the_line(all, of_line, object, version, store.properties().location));
  for (auto& one : chosen)
    if (one.all_present()) return std::move(one);
  return base::fail(missing_segments(chosen.front()));
}

}  // namespace perdure::reader
