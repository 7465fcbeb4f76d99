#include "client/store_losses.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace perdure::client {
namespace {

using Segments = std::set<std::pair<std::uint32_t, std::uint32_t>>;  // index and count

Segments segments_of(const StoredVersionView* view) {
  Segments there;
  if (view != nullptr)
    for (const auto& segment : view->segments) there.insert({segment.ref.index, segment.ref.count});
  return there;
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
  std::map<segment::VersionId, Segments> stored;
  for (const auto& [node, held] : all.held) {
    if (!held.committed || !held.stored || !candidates.contain(held.id)) continue;
    auto there = stored.find(held.id);
    if (there == stored.end()) there = stored.emplace(held.id, segments_of(store.find(held.id))).first;
    const bool aside = std::find(store.aside.begin(), store.aside.end(), held.id) != store.aside.end();
    if (there->second.empty() && !aside) continue;
    StoreLoss loss{held.id, node, {}, {}, held.ranks};
    std::vector<std::uint32_t> ranks;
    for (const auto& segment : held.segments) {
      if (there->second.contains({segment.index, segment.count}) || !holds(held, segment.ranks)) continue;
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
