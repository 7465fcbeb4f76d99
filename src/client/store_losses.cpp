#include "client/store_losses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace perdure::client {
namespace {

using Segments = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // index and count

/// The segments of a version that were in the store.
struct StoreRemains {
  Segments there;
  bool damaged = false;  ///< otherwise the missing segments were removed
};

StoreRemains remains_of(const StoreView& store, const segment::VersionId& id) {
  StoreRemains seen;
  for (const auto& view : store.versions)  // one for each way to cut it
    if (view.id == id)
      for (const auto& segment : view.segments) seen.there.insert({segment.ref.index, segment.ref.count});
  seen.damaged = !seen.there.empty();
  Segments aside;  // some may lie there twice
  std::map<std::uint32_t, std::uint32_t> of_cut;
  for (const auto& segment : store.aside)
    if (segment.id == id && segment.index < segment.count && aside.insert({segment.index, segment.count}).second)
      seen.damaged = ++of_cut[segment.count] == segment.count || seen.damaged;
  // Segments that went while the store was read were set aside, or somebody removes the version.
  const bool leaves = std::find(store.leaving.begin(), store.leaving.end(), id) != store.leaving.end();
  if (leaves && aside.empty()) seen.damaged = false;
  return seen;
}

bool holds(const ToldVersion& held, const base::Runs<std::uint32_t>& ranks) {
  bool all = true;
  ranks.for_each([&](std::uint32_t rank) { all = all && held.held.contains(rank); });
  return all;
}

}  // namespace

std::vector<StoreLoss> store_losses(const JobInventory& all, const StoreView& store, const Candidates& candidates) {
  std::vector<StoreLoss> losses;
  if (store.unreadable) return losses;
  std::map<segment::VersionId, StoreRemains> stored;
  for (const auto& [node, held] : all.held) {
    if (!held.committed || !held.stored || !candidates.contain(held.id)) continue;
    auto known = stored.find(held.id);
    if (known == stored.end()) known = stored.emplace(held.id, remains_of(store, held.id)).first;
    const StoreRemains& seen = known->second;
    if (!seen.damaged) continue;
    StoreLoss loss{held.id, node, {}, {}, held.ranks};
    std::vector<std::uint32_t> ranks;
    for (const auto& segment : held.segments) {
      if (seen.there.contains({segment.index, segment.count}) || !holds(held, segment.ranks)) continue;
      loss.segments.push_back(segment.index);
      segment.ranks.for_each([&](std::uint32_t rank) { ranks.push_back(rank); });
    }
    if (loss.segments.empty()) continue;
    std::sort(ranks.begin(), ranks.end());
    loss.ranks = base::Runs<std::uint32_t>(ranks);
    losses.push_back(std::move(loss));
  }
  return losses;
}

}  // namespace perdure::client
