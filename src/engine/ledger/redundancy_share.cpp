#include "engine/ledger/redundancy_share.hpp"

#include "redundancy/registry.hpp"

namespace perdure::engine {
namespace {

using Kept = std::map<std::uint64_t, catalog::BlockName>;

}  // namespace

std::vector<redundancy::BlockOrder> block_orders(const std::vector<std::vector<segment::Piece>>& members) {
  std::vector<redundancy::BlockOrder> orders;
  for (const auto& pieces : members) {
    std::vector<std::uint64_t> chunks;
    for (const auto& piece : pieces) chunks.push_back(piece.chunks.size());
    orders.emplace_back(chunks);
  }
  return orders;
}

Kept blocks_to_keep(const redundancy::BlockMap& map, const std::vector<redundancy::BlockOrder>& orders,
                    unsigned position) {
  std::vector<std::uint64_t> blocks;
  for (const auto& order : orders) blocks.push_back(order.count());
  Kept kept;
  for (const auto& block : map.kept(position, blocks)) kept[block.number] = {block.stripe, block.index};
  return kept;
}

Kept blocks_to_keep(const catalog::RedundancySet& redundancy_set, unsigned position) {
  const auto scheme = redundancy::find_scheme(redundancy_set.scheme);
  if (!scheme) return {};
  const auto orders = block_orders(redundancy_set.members);
  const auto map = (*scheme)->map(static_cast<unsigned>(orders.size()), redundancy_set.parities);
  return blocks_to_keep(*map, orders, position);
}

ipc::RedundancySummary summary_of(const catalog::RedundancySet& redundancy_set) {
  ipc::RedundancySummary summary{redundancy_set.id.version,
                                 redundancy_set.ranks,
                                 redundancy_set.id.epoch,
                                 redundancy_set.group,
                                 redundancy_set.scheme,
                                 redundancy_set.parities,
                                 redundancy_set.position,
                                 {},
                                 {}};
  for (const auto& pieces : redundancy_set.members) {
    auto& members = summary.members.emplace_back();
    for (const auto& piece : pieces) members.push_back({piece.rank, piece.chunks.size()});
  }
  for (const auto& [number, name] : blocks_to_keep(redundancy_set, redundancy_set.position))
    if (!redundancy_set.kept.contains(name)) summary.missing.push_back(number);
  return summary;
}

std::vector<std::string> checkpoint_names(const std::map<catalog::RedundancyId, catalog::RedundancySet>& sets,
                                          std::uint32_t ranks) {
  std::set<std::string> names;
  for (const auto& [id, redundancy_set] : sets)
    if (ranks == 0 || redundancy_set.ranks == ranks) names.insert(id.version.name);
  return {names.begin(), names.end()};
}

}  // namespace perdure::engine
