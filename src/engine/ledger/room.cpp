#include "engine/ledger/room.hpp"

#include <algorithm>

#include "plan/lineage.hpp"

namespace perdure::engine {
namespace {

// While the store fails, an older version may go when a newer one of the same name is safe, and whole, here. Versions
// queued behind the one that fails are stuck like it, except while it is being retried.
// A newer version of another branch replaces nothing. A version reported to survive the loss of nodes stays until that
// holds for a newer one. A newer one that is only here does not replace it.
bool superseded_and_stuck(const RoomView& room, const RoomView::Held& held) {
  if (held.life < Life::committed || held.pinned || held.promised) return false;
  const bool flushing = std::any_of(room.versions.begin(), room.versions.end(),
                                    [](const auto& other) { return other.flush == FlushPhase::running; });
  const bool stuck_behind = held.flush == FlushPhase::queued && room.store_failing && !flushing;
  if (held.flush != FlushPhase::waiting && held.flush != FlushPhase::given_up && !stuck_behind) return false;
  return std::any_of(room.versions.begin(), room.versions.end(), [&](const auto& other) {
    return other.life >= Life::committed && other.unreachable == 0 && other.id.name == held.id.name &&
           other.id.attempt > held.id.attempt && plan::same_branch(other.id.attempt, held.id.attempt);
  });
}

bool is_remains(const RoomView::Held& held) { return held.outcome == RoomView::Held::Outcome::awaited && !held.pinned; }

template <class MayGo>
const RoomView::Held* oldest(const RoomView& room, const RoomWanted& wanted, MayGo may_go) {
  const RoomView::Held* best = nullptr;
  for (const auto& held : room.versions) {
    if (held.id == wanted.version || held.chunks == 0 || !may_go(held)) continue;
    if (best == nullptr || held.id.attempt < best->id.attempt) best = &held;
  }
  return best;
}

const RoomView::Kept* oldest_obsolete(const RoomView& room, const RoomWanted& wanted) {
  const RoomView::Kept* best = nullptr;
  for (const auto& kept : room.obsolete) {
    if (kept.id.version == wanted.version || kept.blocks == 0) continue;
    if (best == nullptr || kept.id.version.attempt < best->id.version.attempt) best = &kept;
  }
  return best;
}

}  // namespace

std::uint64_t blocks_on(const catalog::RedundancySet& redundancy_set, std::uint32_t tier) {
  return static_cast<std::uint64_t>(std::count_if(redundancy_set.kept.begin(), redundancy_set.kept.end(),
                                                  [tier](const auto& entry) { return entry.second.place == tier; }));
}

bool evictable(const RoomView::Held& held) { return held.life == Life::stored && !held.pinned && !held.guarded; }

Eviction choose_eviction(const RoomView& room, const RoomWanted& wanted) {
  using What = Eviction::What;
  if (const auto* stored = oldest(room, wanted, [](const auto& held) { return evictable(held); }))
    return {What::version, stored->id, {}};
  if (wanted.use == RoomWanted::For::growth) return {};
  if (const auto* kept = oldest_obsolete(room, wanted)) return {What::redundancy, {}, kept->id};
  if (room.chunks_to_spill) return {What::spilled_chunk, {}, {}};
  if (wanted.scope == EvictionScope::stored) return {};
  if (const auto* remains = oldest(room, wanted, is_remains)) return {What::version, remains->id, {}};
  if (wanted.scope == EvictionScope::remains) return {};
  const auto* stuck = oldest(room, wanted, [&](const auto& held) { return superseded_and_stuck(room, held); });
  return stuck == nullptr ? Eviction() : Eviction{What::version, stuck->id, {}};
}

Eviction choose_ahead(const RoomView& room, const segment::VersionId& stored) {
  const auto is_whole = [&](const RoomView::Held& held) {
    return held.id == stored && held.life == Life::stored && held.chunks > 0 && held.unreachable == 0;
  };
  if (std::none_of(room.versions.begin(), room.versions.end(), is_whole)) return {};
  const auto* older = oldest(room, {stored}, [&](const RoomView::Held& held) {
    return held.id.name == stored.name && held.id.attempt < stored.attempt && evictable(held);
  });
  return older == nullptr ? Eviction() : Eviction{Eviction::What::version, older->id, {}};
}

}  // namespace perdure::engine
