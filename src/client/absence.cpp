#include "client/absence.hpp"

#include <algorithm>

namespace perdure::client {
namespace {

const segment::VersionId* newest(const std::vector<segment::VersionId>& ids) {
  const auto it =
      std::max_element(ids.begin(), ids.end(), [](const auto& a, const auto& b) { return a.attempt < b.attempt; });
  return it == ids.end() ? nullptr : &*it;
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

}  // namespace perdure::client
