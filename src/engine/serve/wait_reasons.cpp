#include "engine/serve/wait_reasons.hpp"

#include <algorithm>

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

// The head of the queue is asked again whenever something changed: the last answer is why it waits.
WaitReason why_no_slot(const NodeState& core, ClientId client, std::optional<std::uint32_t> head) {
  if (head) return {"behind", "behind rank " + std::to_string(*head)};
  const auto& recent = core.grants.decisions().recent();
  const auto last = std::find_if(recent.rbegin(), recent.rend(), [client](const NotedDecision& noted) {
    return noted.client == client && !noted.decision.tier;
  });
  if (last == recent.rend()) return {"unknown", "not decided yet"};
  const placement::Reason reason = last->decision.reason;
  // No flush will free one, and yet it is not refused.
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

// Ordered by name, and then by version.
std::string names_not_stored(const NodeState& core) {
  struct Range {
    std::string name;
    std::uint64_t first = 0, last = 0;
  };
  std::vector<Range> ranges;
  for (const auto& [id, version] : core.tracked()) {
    const bool left =
        version.life == Life::delayed || version.life == Life::committed || version.flush == FlushPhase::given_up;
    if (!left) continue;
    if (ranges.empty() || ranges.back().name != id.name) ranges.push_back({id.name, id.version, id.version});
    ranges.back().first = std::min(ranges.back().first, id.version);
    ranges.back().last = std::max(ranges.back().last, id.version);
  }
  constexpr std::size_t kMostNames = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(ranges.size(), kMostNames); ++i) {
    const auto& [name, first, last] = ranges[i];
    text += (text.empty() ? "" : ", ") + name + (first == last ? " version " : " versions ") + std::to_string(first);
    if (first != last) text += " to " + std::to_string(last);
  }
  if (ranges.size() > kMostNames) text += " and " + std::to_string(ranges.size() - kMostNames) + " other names";
  return text;
}

WaitReason why_not_drained(const NodeState& core) {
  const std::size_t versions = core.pending_versions();
  if (versions == 0)
    return {"retention", "everything is stored; retention, or a step of the pipeline that was added, is not done"};
  return {"flush", std::to_string(versions) + (versions == 1 ? " version is" : " versions are") + " not stored"};
}

}  // namespace perdure::engine
