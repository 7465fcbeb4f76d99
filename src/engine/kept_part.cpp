#include "engine/kept_part.hpp"

#include "redundancy/copies.hpp"
#include "redundancy/registry.hpp"
#include "redundancy/stripes.hpp"

namespace perdure::engine {
namespace {

using Kept = std::map<std::uint64_t, catalog::BlockName>;

Kept copies_to_keep(const std::vector<redundancy::BlockOrder>& orders, unsigned position) {
  const auto n = static_cast<unsigned>(orders.size());
  Kept kept;
  for (unsigned source = 0; source < n; ++source)
    if (redundancy::copy_position(n, source) == position)
      for (std::uint64_t number = 0; number < orders[source].count(); ++number) kept[number] = {number, source};
  return kept;
}

// A stripe in which nobody has a block has no parity either: where nodes have different amounts of data.
bool any_block(const redundancy::Stripes& stripes, const std::vector<redundancy::BlockOrder>& orders,
               std::uint64_t stripe) {
  for (unsigned item = 0; item < stripes.k(); ++item) {
    const auto block = stripes.block({stripe, item});
    if (block.number < orders[block.position].count()) return true;
  }
  return false;
}

Kept parities_to_keep(const redundancy::Stripes& stripes, const std::vector<redundancy::BlockOrder>& orders,
                      unsigned position) {
  std::vector<std::uint64_t> blocks;
  for (const auto& order : orders) blocks.push_back(order.count());
  Kept kept;
  const std::uint64_t parities = stripes.parities_at(position, stripes.count(blocks));
  for (std::uint64_t i = 0; i < parities; ++i) {
    const auto place = stripes.parity_at(position, i);
    if (any_block(stripes, orders, place.stripe)) kept[place.stripe] = {place.stripe, place.index};
  }
  return kept;
}

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

Kept blocks_to_keep(const redundancy::Scheme& scheme, unsigned parities,
                    const std::vector<redundancy::BlockOrder>& orders, unsigned position) {
  const auto n = static_cast<unsigned>(orders.size());
  if (scheme.method == redundancy::Method::copy) return copies_to_keep(orders, position);
  if (scheme.method == redundancy::Method::server)
    return parities_to_keep(redundancy::Stripes::at_server(n), orders, position);
  if (scheme.method == redundancy::Method::parity && parities > 0 && parities < n)
    return parities_to_keep(redundancy::Stripes(n, parities), orders, position);
  return {};
}

Kept blocks_to_keep(const catalog::Protection& protection, unsigned position) {
  const auto scheme = redundancy::find_scheme(protection.scheme);
  if (!scheme) return {};
  return blocks_to_keep(**scheme, protection.parities, block_orders(protection.members), position);
}

ipc::KeptSummary summary_of(const catalog::Protection& protection) {
  ipc::KeptSummary summary{protection.id.version,
                           protection.ranks,
                           protection.id.epoch,
                           protection.group,
                           protection.scheme,
                           protection.parities,
                           protection.position,
                           {},
                           {}};
  for (const auto& pieces : protection.members) {
    auto& members = summary.members.emplace_back();
    for (const auto& piece : pieces) members.push_back({piece.rank, piece.chunks.size()});
  }
  for (const auto& [number, name] : blocks_to_keep(protection, protection.position))
    if (!protection.kept.contains(name)) summary.missing.push_back(number);
  return summary;
}

}  // namespace perdure::engine
