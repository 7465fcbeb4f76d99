// Which held version makes room, and whether room can come at all.
#include <algorithm>

#include "engine/core.hpp"
#include "os/crash_point.hpp"

namespace perdure::engine {
namespace {

constexpr std::size_t kLostRemembered = 256;

}  // namespace

bool Core::evictable(const catalog::HeldVersion& held) const {
  auto it = runtime_.find(held.id);
  return held.all_stored() && (it == runtime_.end() || it->second.pinned_by.empty()) && !guarded(held.id);
}

bool Core::flushing() const {
  return std::any_of(runtime_.begin(), runtime_.end(),
                     [](const auto& entry) { return entry.second.flush == FlushState::running; });
}

// While the store is failing, an older version may go when a newer one of the same name is safe here. Those that queue
// behind the one that fails are as stuck as it is, but not while it is being tried again.
bool Core::superseded_and_stuck(const catalog::HeldVersion& held) const {
  auto it = runtime_.find(held.id);
  if (!held.committed || it == runtime_.end() || !it->second.pinned_by.empty()) return false;
  const FlushState flush = it->second.flush;
  const bool stuck_behind = flush == FlushState::queued && store_failing_ && !flushing();
  if (flush != FlushState::waiting && flush != FlushState::given_up && !stuck_behind) return false;
  const auto& versions = catalog_.state().versions;
  return std::any_of(versions.begin(), versions.end(), [&](const auto& entry) {
    return entry.second.committed && entry.first.name == held.id.name && entry.first.attempt > held.id.attempt;
  });
}

bool Core::uses_tier(const segment::VersionId& id, std::uint32_t tier) const {
  const Runtime* run = runtime(id);
  return run != nullptr && tier < run->chunks.size() && run->chunks[tier] > 0;
}

// The version to drop next for room on `tier`: the oldest that is stored, else the oldest that is superseded and stuck.
const catalog::HeldVersion* Core::victim(std::uint32_t tier, const segment::VersionId& for_version,
                                         Sacrifice sacrifice) const {
  const catalog::HeldVersion* best = nullptr;
  for (const auto& [id, held] : catalog_.state().versions) {
    const bool may_go = evictable(held) || (sacrifice == Sacrifice::superseded && superseded_and_stuck(held));
    if (id == for_version || !may_go || !uses_tier(id, tier)) continue;
    const bool better = best == nullptr || (held.all_stored() && !best->all_stored()) ||
                        (held.all_stored() == best->all_stored() && id.attempt < best->id.attempt);
    if (better) best = &held;
  }
  return best;
}

bool Core::evict(const catalog::HeldVersion& held) {
  const segment::VersionId id = held.id;
  const bool stored = held.all_stored();
  os::crash_point(os::CrashPoint::evict_before_catalog);
  if (auto dropped = drop(id); !dropped) {
    catalog_error_ = dropped.error();
    return false;
  }
  os::crash_point(os::CrashPoint::evict_after_catalog);
  ++(stored ? counters_.evicted_stored : counters_.evicted_unstored);
  if (!stored) note_lost(id);
  return true;
}

// Said once for as long as the store fails: a long outage must not bury other reports.
void Core::note_lost(const segment::VersionId& id) {
  if (dropped_++ == 0)
    reports_.add(id.text() +
                 ": given up before it reached the store, to make room for newer ones; so will others until the store "
                 "works again");
  lost_.push_back(id);
  if (lost_.size() > kLostRemembered) lost_.pop_front();
}

bool Core::lost(const segment::VersionId& id) const { return std::find(lost_.begin(), lost_.end(), id) != lost_.end(); }

// A tier that failed is avoided until the next checkpoint, and spoken of once until a capture used it again.
void Core::tier_failed(std::uint32_t tier, const std::string& why) {
  if (!trouble_[tier].reported)
    reports_.add("tier " + tiers_[tier]->properties().name + ": " + why + "; using the next tier");
  trouble_[tier] = {true, true};
}

// A tier grows to what two versions need. Beyond that, versions that are safe in the store go before more is taken from
// the system.
bool Core::make_room(std::uint32_t tier, std::uint64_t bytes, const segment::VersionId& for_version,
                     Sacrifice sacrifice) {
  const std::uint64_t target = 2 * expected_.bytes();
  while (!tiers_[tier]->has_free(bytes) && tiers_[tier]->usage().bytes + bytes > target) {
    const auto* held = victim(tier, for_version, Sacrifice::stored);
    if (held == nullptr || !evict(*held)) break;
  }
  while (!tiers_[tier]->can_hold(bytes)) {
    const auto* stored = victim(tier, for_version, Sacrifice::stored);
    if (stored == nullptr && (unprotect_one(tier, for_version) || move_one(tier))) continue;
    const auto* held = stored != nullptr ? stored : victim(tier, for_version, sacrifice);
    if (held == nullptr || !evict(*held)) return false;
  }
  return true;
}

// Waiting for a slot makes sense only while something can free one that the rank can write. Every slot that was granted
// is written or given back by a rank that waits for nobody; of a capture that is flushed early it then comes back.
bool Core::may_become_free(const ipc::Grant& request) const {
  if (catalog_error_) return false;
  const auto usable = [&](std::uint64_t tier) {
    return std::find(request.avoid.begin(), request.avoid.end(), tier) == request.avoid.end();
  };
  const auto any_usable = [&](const std::vector<std::uint64_t>& chunks) {
    for (std::size_t t = 0; t < chunks.size(); ++t)
      if (chunks[t] > 0 && usable(t)) return true;
    return false;
  };
  for (const auto& [id, run] : runtime_) {
    if (!any_usable(run.chunks)) continue;
    if (may_be_flushed_early(id)) return true;
    const auto* held = find(id);
    const bool coming = held != nullptr && held->committed && run.flush != FlushState::given_up;
    if (id != request.id && (coming || !run.pinned_by.empty())) return true;
  }
  for (const auto& [id, chunks] : chunks_in_flight_)
    if ((id != request.id || may_be_flushed_early(id)) && any_usable(chunks)) return true;
  return std::any_of(being_read_.begin(), being_read_.end(),
                     [&](const auto& entry) { return entry.second && usable(entry.first.first); });
}

}  // namespace perdure::engine
