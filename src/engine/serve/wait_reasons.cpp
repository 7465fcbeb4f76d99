#include "engine/serve/wait_reasons.hpp"

#include <algorithm>
#include <vector>

#include "segment/version_ranges.hpp"

namespace perdure::engine {

const char* flush_name(const catalog::HeldVersion& held, const Version* run) {
  if (!held.committed) return "being written";
  if (held.all_stored()) return "stored";
  switch (run == nullptr ? FlushPhase::queued : run->flush) {
    case FlushPhase::queued:
      return "queued";
    case FlushPhase::running:
      return "being flushed";
    case FlushPhase::waiting:
      return "waits for its next try";
    case FlushPhase::given_up:
      return "given up";
  }
  return "unknown";
}

// The head of the queue is asked again after every change, so its last answer is why it waits.
WaitReason why_no_slot(const NodeState& core, ClientId client, std::optional<std::uint32_t> head) {
  if (head) return {"behind", "behind rank " + std::to_string(*head)};
  const auto& recent = core.grants.decisions().recent();
  const auto last = std::find_if(recent.rbegin(), recent.rend(), [client](const NotedDecision& noted) {
    return noted.client == client && !noted.decision.tier;
  });
  if (last == recent.rend()) return {"unknown", "not decided yet"};
  const placement::Reason reason = last->decision.reason;
  // No flush will free a slot, and yet the request is not refused.
  if (!placement::is_wait(reason))
    return {placement::reason_name(reason), "no tier has room before other ranks are done with their slots"};
  return {placement::reason_name(reason), placement::reason_text(reason)};
}

WaitReason why_not_flushed(const NodeState& core, const segment::VersionId& id) {
  const auto* held = core.find(id);
  if (held == nullptr) return {"flush", id.text() + " is not here any more"};
  const Version* run = core.version(id);
  const std::string error = run != nullptr && run->error ? " (" + run->error->text() + ")" : "";
  return {"flush", id.text() + " is not stored: " + flush_name(*held, run) + error};
}

WaitReason why_not_written(NodeState& core, std::uint32_t tier) {
  const bool known = tier < core.tiers().size();
  return {"emulated_device", "the device of tier " + (known ? core.tiers()[tier]->properties().name : "?") +
                                 ", which is emulated, still writes it"};
}

std::string names_not_stored(const NodeState& core) {
  std::vector<segment::VersionId> left;
  for (const auto& [id, version] : core.tracked()) {
    const bool is_left =
        version.life == Life::delayed || version.life == Life::committed || version.flush == FlushPhase::given_up;
    if (is_left) left.push_back(id);
  }
  return segment::version_ranges(left);
}

WaitReason why_not_drained(const NodeState& core) {
  const std::size_t versions = core.pending_versions();
  if (versions == 0)
    return {"retention", "everything is stored; retention, or a step of the pipeline that was added, is not done"};
  return {"flush", std::to_string(versions) + (versions == 1 ? " version is" : " versions are") + " not stored"};
}

}  // namespace perdure::engine
