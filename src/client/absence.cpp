#include "client/absence.hpp"

#include <algorithm>

#include "segment/version_ranges.hpp"

namespace perdure::client {
namespace {

const segment::VersionId* newest(const std::vector<segment::VersionId>& ids) {
  const auto it =
      std::max_element(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.attempt < b.attempt; });
  return it == ids.end() ? nullptr : &*it;
}

const segment::VersionId* newest_elsewhere(std::int64_t version, const VersionsOfName& there) {
  const segment::VersionId* found = nullptr;
  for (const auto& id : there.elsewhere) {
    const bool asked = version < 0 || id.version == static_cast<std::uint64_t>(version);
    if (asked && (found == nullptr || found->attempt < id.attempt)) found = &id;
  }
  return found;
}

std::string remedy(const std::string& name) {
  return "see perdure ls and perdure ls --quarantine; to begin anew on purpose: perdure forget " + name;
}

}  // namespace

base::Error absence(const std::string& name, std::int64_t version, const Evidence& evidence) {
  const std::string object = version < 0 ? name : name + " version " + std::to_string(version);
  if (const auto it = std::max_element(evidence.aside.begin(), evidence.aside.end(),
                                       [](const auto& a, const auto& b) { return a.id.attempt < b.id.attempt; });
      it != evidence.aside.end())
    return {PERDURE_CORRUPT, object,
            "no version is left that can be restored: damage was found in it, and " + it->path + " was set aside",
            remedy(name), false};
  if (const auto* failed = newest(evidence.failed); failed != nullptr)
    return {PERDURE_CORRUPT, object,
            "no version passed verification on all ranks; the newest that failed is " + failed->text(), remedy(name),
            false};
  const auto* stored = newest(evidence.in_store);
  const auto* held = newest(evidence.on_nodes);
  if (stored == nullptr && held == nullptr)
    return {PERDURE_NOT_FOUND, object, "there is no checkpoint of it, in the store or on the nodes of this job",
            "see perdure ls for what the store holds", false};
  if (held != nullptr &&
      std::find(evidence.unreachable.begin(), evidence.unreachable.end(), *held) != evidence.unreachable.end())
    return {
        PERDURE_INCOMPLETE, object,
        "no version can be had whole now: of " + held->text() +
            ", the newest, a node has a part on a tier that it cannot reach in this launch",
        "see the reports of this launch (perdure_next_report, engine.log) for the tier and why, and start again when "
        "it can be reached; " +
            remedy(name),
        false};
  const bool from_store = held == nullptr || (stored != nullptr && held->attempt < stored->attempt);
  return {PERDURE_INCOMPLETE, object,
          "no version is whole: of " + (from_store ? stored : held)->text() + ", the newest, " +
              (from_store ? "the store has some segments only, and no node of this job has the others"
                          : "the nodes of this job and the store have a part only"),
          "start the job on the nodes that it ran on; " + remedy(name), false};
}

base::Error no_such_version(const std::string& name, std::int64_t version, std::optional<plan::Branch> branch,
                            const VersionsOfName& there) {
  const std::string of_branch = branch ? " of branch " + plan::branch_text(*branch) : "";
  const std::string object = name + (version < 0 ? "" : " version " + std::to_string(version));
  base::Error error{PERDURE_MISMATCH, object,
                    (version < 0 ? "there is nothing" : "there is no such version") + of_branch,
                    "ask for a version that is there, or for PERDURE_LATEST; perdure ls shows them", false};
  std::vector<std::uint64_t> versions;
  for (const auto& id : there.of_line) versions.push_back(id.version);
  if (!versions.empty()) error.cause += "; " + segment::versions_there(std::move(versions));
  if (there.of_line.empty() && there.elsewhere.empty())
    error.cause += "; of other versions there are remains only, or what was set aside";
  // The line has no version left, whatever another branch has.
  const bool has_it = newest_elsewhere(version, there) != nullptr;
  add_left_branch(has_it || !there.of_line.empty() ? version : -1, there, error);
  return error;
}

base::Error written_by_others(const std::string& object, std::uint32_t other, std::uint32_t ranks,
                              const std::string& local) {
  const std::string why = local.empty() ? "" : ", and " + local + " is memory of one rank, no part of an array";
  return {PERDURE_MISMATCH, object,
          "it was written by " + std::to_string(other) + " ranks, this run has " + std::to_string(ranks) + why,
          "run with as many ranks as wrote it, take such memory with perdure_restore_part(), say that it may be absent "
          "with perdure_set_presence(), or take arrays alone with perdure_restore_regions()",
          false};
}

void add_left_branch(std::int64_t version, const VersionsOfName& there, base::Error& error) {
  const auto* left = newest_elsewhere(version, there);
  if (left == nullptr) return;
  const std::string branch = plan::branch_text(plan::branch_of(left->attempt.nonce));
  if (error.code == PERDURE_NOT_FOUND) {
    error.code = PERDURE_INCOMPLETE;
    error.cause = "nothing is left of the current branch";
  }
  error.cause += "; another branch has " + left->name + "@" + branch + ":" + std::to_string(left->version);
  error.remedy = "perdure_restore_branch() with branch " + branch + " takes that one" +
                 (error.remedy.empty() ? "" : "; " + error.remedy);
}

}  // namespace perdure::client
