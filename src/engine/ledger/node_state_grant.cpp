// A slot for a chunk, and slots prepared ahead.
#include <algorithm>

#include "base/bytes.hpp"
#include "engine/ledger/node_state.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"

namespace perdure::engine {

// How many of the tiers the rank could not write.
std::size_t NodeState::avoid_tiers(const ipc::Grant& request) {
  std::size_t avoided = 0;
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    if (std::find(request.avoid.begin(), request.avoid.end(), t) == request.avoid.end()) continue;
    tier_failed(t, request.why);
    ++avoided;
  }
  return avoided;
}

// Nothing is evicted before a policy chose the tier. False when it then has no room after all.
bool NodeState::take_slot(ClientId client, const ipc::Grant& request, std::uint32_t tier, EvictionScope sacrifice,
                          GrantOutcome& outcome) {
  if (!make_room(tier, request.bytes, request.id, sacrifice)) return false;
  auto slot = tiers_[tier]->acquire(request.bytes, client);
  if (!slot) {
    tier_failed(tier, slot.error().text());
    outcome.error = slot.error();
    return false;
  }
  outcome.kind = GrantOutcome::Kind::granted;
  outcome.address = tiers_[tier]->address(*slot);
  take_in_flight(client, request, {tier, *slot}, outcome.address.fresh);
  return true;
}

// True when that is all there is to it: a slot was taken, or the policy waits for something that comes.
bool NodeState::place(ClientId client, const ipc::Grant& request, const GrantContext& context, EvictionScope sacrifice,
                      GrantOutcome& outcome) {
  auto states = observe_tiers(client, request, context.last_chance, sacrifice);
  const placement::View view{states, observe_flushes(), observe_queue(request.id, context.waiting), request.bytes};
  for (;;) {
    const placement::Decision decision = options_.policy->decide(view);
    const std::size_t t = decision.tier.value_or(0);
    const bool taken = decision.tier && take_slot(client, request, static_cast<std::uint32_t>(t), sacrifice, outcome);
    const bool nowhere = !decision.tier && !placement::is_wait(decision.reason);
    if (taken || (!decision.tier && !(nowhere && sacrifice == EvictionScope::stored)))
      decisions_.note({os::wall_clock_ns(), client, context.rank, request.id, decision});
    if (taken || !decision.tier) return !nowhere;
    states[t].free_slots = 0;  // it has none after all
    states[t].failed = tier_health_[t].failed;
  }
}

GrantOutcome NodeState::grant(ClientId client, const ipc::Grant& request, const GrantContext& context) {
  os::crash_point(os::CrashPoint::engine_grant);
  catalog_error_.reset();
  const std::size_t avoided = avoid_tiers(request);
  GrantOutcome outcome;
  outcome.error = {PERDURE_NO_SPACE, "tiers", "no tier has room for a chunk of " + base::format_bytes(request.bytes),
                   "raise tier.memory.max_bytes or tier.file.max_bytes, or free space on tier.file.path", false};
  if (avoided == tiers_.size()) outcome.error.cause = "no tier can be written: " + request.why;
  if (!place(client, request, context, EvictionScope::stored, outcome))
    (void)place(client, request, context, EvictionScope::superseded, outcome);
  consider_early_flush(request.id, outcome);
  if (outcome.kind == GrantOutcome::Kind::granted) return outcome;
  const OpenCapture* open = capture(request.id);
  const bool failed = open != nullptr && open->failure.has_value();
  if (failed) outcome.error = *open->failure;
  if (catalog_error_) outcome.error = *catalog_error_;
  const bool wait = !failed && avoided < tiers_.size() && may_become_free(request);
  outcome.kind = wait ? GrantOutcome::Kind::wait : GrantOutcome::Kind::refused;
  return outcome;
}

std::vector<std::pair<tier::SlotAddress, std::uint64_t>> NodeState::reserve(
    ClientId client, const std::vector<std::uint64_t>& chunk_bytes) {
  expected_.reserved(client, chunk_bytes);
  std::vector<std::uint64_t> wanted = chunk_bytes;  // of two versions
  wanted.insert(wanted.end(), chunk_bytes.begin(), chunk_bytes.end());
  std::sort(wanted.rbegin(), wanted.rend());
  std::vector<std::pair<tier::SlotAddress, std::uint64_t>> slots;
  if (tiers_.empty()) return slots;
  for (const auto& reserved : tiers_[0]->reserve(wanted, client))
    slots.emplace_back(tiers_[0]->address(reserved.slot), reserved.bytes);
  return slots;
}

}  // namespace perdure::engine
