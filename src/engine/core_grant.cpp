// A slot for a chunk, and slots prepared ahead.
#include <algorithm>

#include "base/bytes.hpp"
#include "engine/core.hpp"
#include "os/crash_point.hpp"
#include "placement/policy.hpp"

namespace perdure::engine {

// Nothing is evicted for a tier that the rank avoids, nor for slower ones while a faster one has room.
std::vector<placement::TierView> Core::look_at_tiers(const ipc::Grant& request, std::size_t first) {
  std::vector<placement::TierView> views;
  for (auto t = static_cast<std::uint32_t>(first); t < tiers_.size(); ++t) {
    const bool avoided = std::find(request.avoid.begin(), request.avoid.end(), t) != request.avoid.end();
    views.push_back({!avoided && make_room(t, request.bytes, request.id), trouble_[t].failed, writes_.writers(t)});
    if (views.back().can_hold && !trouble_[t].failed) break;
  }
  return views;
}

GrantOutcome Core::grant(ClientId client, const ipc::Grant& request) {
  os::crash_point(os::CrashPoint::engine_grant);
  catalog_error_.reset();
  std::size_t avoided = 0;
  for (std::uint32_t t = 0; t < tiers_.size(); ++t) {
    if (std::find(request.avoid.begin(), request.avoid.end(), t) == request.avoid.end()) continue;
    tier_failed(t, request.why);
    ++avoided;
  }
  GrantOutcome outcome;
  outcome.error = {PERDURE_NO_SPACE, "tiers", "no tier has room for a chunk of " + base::format_bytes(request.bytes),
                   "raise tier.memory.max_bytes or tier.file.max_bytes, or free space on tier.file.path", false};
  if (avoided == tiers_.size()) outcome.error.cause = "no tier can be written: " + request.why;
  auto views = look_at_tiers(request, 0);
  while (auto choice = placement::first_with_room(views)) {
    const auto t = static_cast<std::uint32_t>(*choice);
    auto slot = tiers_[t]->acquire(request.bytes, client);
    if (slot) {
      take_in_flight(client, request, {t, *slot});
      outcome.kind = GrantOutcome::Kind::granted;
      outcome.address = tiers_[t]->address(*slot);
      return outcome;
    }
    tier_failed(t, slot.error().text());
    outcome.error = slot.error();
    views[t].can_hold = false;
    for (const auto& slower : look_at_tiers(request, views.size())) views.push_back(slower);
  }
  if (catalog_error_) outcome.error = *catalog_error_;
  const bool wait = avoided < tiers_.size() && may_become_free(request.id);
  outcome.kind = wait ? GrantOutcome::Kind::wait : GrantOutcome::Kind::refused;
  return outcome;
}

std::vector<std::pair<tier::SlotAddress, std::uint64_t>> Core::reserve(ClientId client,
                                                                       const std::vector<std::uint64_t>& chunk_bytes) {
  reserved_[client] = chunk_bytes;
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
