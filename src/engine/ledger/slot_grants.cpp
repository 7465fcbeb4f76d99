#include "engine/ledger/slot_grants.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "os/crash_point.hpp"
#include "os/system.hpp"

namespace perdure::engine {
namespace {

std::uint64_t largest_chunk(const OpenCapture& capture) {
  std::uint64_t largest = 0;
  for (const auto& [rank, piece] : capture.pieces)
    for (const auto& chunk : piece.chunks) largest = std::max(largest, chunk.length);
  return largest;
}

}  // namespace

void SlotGrants::begin_capture(ClientId client, const ipc::Begin& begin) {
  if (!captures_.announce(client, begin) || node_.tiers.empty()) return;
  const OpenCapture& capture = *captures_.find(begin.id);
  const std::uint64_t bytes = largest_chunk(capture);
  if (bytes == 0) return;
  const auto first = outlook_.tier({begin.id, bytes, 0, {}, {}}, 0, EvictionScope::stored);
  const auto& granted = node_.versions.at(begin.id).granted;
  const std::uint64_t own = granted.empty() ? 0 : granted[0];  // granted before all had announced
  const std::uint64_t room = (first.free_slots + own) * bytes;
  if (flush_before_commit(node_.options.during_capture, capture.bytes(), room))
    captures_.choose_write_through(begin.id);
}

// It was expected to fit, but other captures took the slots first.
void SlotGrants::consider_write_through(const segment::VersionId& id, const GrantOutcome& outcome) {
  const bool first = outcome.kind == GrantOutcome::Kind::granted && outcome.address.tier == 0;
  const OpenCapture* open = captures_.find(id);
  if (first || open == nullptr || !open->announced()) return;
  if (node_.options.during_capture != DuringCapture::never) captures_.choose_write_through(id);
}

// Returns how many of the tiers the rank could not write.
std::size_t SlotGrants::avoid_tiers(const ipc::Grant& request) {
  std::size_t avoided = 0;
  for (std::uint32_t t = 0; t < node_.usable_tiers; ++t) {
    if (std::find(request.avoid.begin(), request.avoid.end(), t) == request.avoid.end()) continue;
    node_.tier_failed(t, request.why);
    ++avoided;
  }
  return avoided;
}

// Evicts only after a policy chose the tier. False if the tier then has no room after all.
bool SlotGrants::take_slot(ClientId client, const ipc::Grant& request, std::uint32_t tier, EvictionScope sacrifice,
                           GrantOutcome& outcome) {
  if (!room_.make(tier, request.bytes, request.id, sacrifice)) return false;
  auto slot = node_.tiers[tier]->acquire(request.bytes, client);
  if (!slot) {
    node_.tier_failed(tier, slot.error().text());
    outcome.error = slot.error();
    return false;
  }
  try {
    outcome.address = node_.tiers[tier]->address(*slot);
    writes_.take(client, request, {tier, *slot}, outcome.address.fresh);
  } catch (...) {  // otherwise the slot would never be given back
    if (node_.slots.granted({tier, *slot}) == nullptr) node_.tiers[tier]->release(*slot);
    throw;
  }
  outcome.kind = GrantOutcome::Kind::granted;
  return true;
}

// True if the request is answered: a slot was taken, or the policy waits for one that will come.
bool SlotGrants::place(ClientId client, const ipc::Grant& request, const GrantContext& context, EvictionScope sacrifice,
                       GrantOutcome& outcome) {
  auto states = outlook_.tiers(client, request, context.last_chance, sacrifice);
  const placement::View view{states, outlook_.flushes(), outlook_.queue(request.id, context.waiting), request.bytes};
  for (;;) {
    const placement::Decision decision = node_.options.policy->decide(view);
    const std::size_t t = decision.tier.value_or(0);
    const bool taken = decision.tier && take_slot(client, request, static_cast<std::uint32_t>(t), sacrifice, outcome);
    const bool nowhere = !decision.tier && !placement::is_wait(decision.reason);
    if (taken || (!decision.tier && !(nowhere && sacrifice == EvictionScope::stored)))
      decisions_.note({os::wall_clock_ns(), client, context.rank, request.id, decision});
    if (taken || !decision.tier) return !nowhere;
    states[t].free_slots = 0;  // it has none after all
    states[t].failed = node_.tier_health[t].failed;
  }
}

GrantOutcome SlotGrants::grant(ClientId client, const ipc::Grant& request, const GrantContext& context) {
  os::crash_point(os::CrashPoint::engine_grant);
  room_.forget_refusal();
  const std::size_t avoided = avoid_tiers(request);
  GrantOutcome outcome;
  outcome.error = {PERDURE_NO_SPACE, "tiers", "no tier has room for a chunk of " + base::format_bytes(request.bytes),
                   "raise tier.memory.max_bytes or tier.file.max_bytes, or free space on tier.file.path", false};
  if (avoided == node_.usable_tiers) outcome.error.cause = "no tier can be written: " + request.why;
  const bool placed = place(client, request, context, EvictionScope::stored, outcome);
  if (!placed && !request.at_once && !context.only_stored)
    (void)place(client, request, context, EvictionScope::superseded, outcome);
  if (!request.at_once) consider_write_through(request.id, outcome);
  if (outcome.kind == GrantOutcome::Kind::granted) return outcome;
  const OpenCapture* open = captures_.find(request.id);
  const bool failed = open != nullptr && open->failure.has_value();
  if (failed) outcome.error = *open->failure;
  if (room_.refused()) outcome.error = *room_.refused();
  const bool wait = !failed && avoided < node_.usable_tiers && room_.may_become_free(client, request);
  outcome.kind = wait ? GrantOutcome::Kind::wait : GrantOutcome::Kind::refused;
  return outcome;
}

std::vector<std::pair<tier::SlotAddress, std::uint64_t>> SlotGrants::reserve(
    ClientId client, const std::vector<std::uint64_t>& chunk_bytes) {
  node_.observed.expected.reserved(client, chunk_bytes);
  std::vector<std::uint64_t> wanted = chunk_bytes;  // enough for two versions
  wanted.insert(wanted.end(), chunk_bytes.begin(), chunk_bytes.end());
  std::sort(wanted.rbegin(), wanted.rend());
  std::vector<std::pair<tier::SlotAddress, std::uint64_t>> slots;
  if (node_.tiers.empty()) return slots;
  for (const auto& reserved : node_.tiers[0]->reserve(wanted, client))
    slots.emplace_back(node_.tiers[0]->address(reserved.slot), reserved.bytes);
  return slots;
}

}  // namespace perdure::engine
