#pragma once
// What a position has to keep for its group, by what all of its members have. Pure. (docs/adr/0014)
#include <map>
#include <set>
#include <vector>

#include "catalog/protection.hpp"
#include "ipc/messages.hpp"
#include "redundancy/block_order.hpp"

namespace perdure::engine {

std::vector<redundancy::BlockOrder> block_orders(const std::vector<std::vector<segment::Piece>>& members);

/// By redundancy::Item number: the block that this position of the group should keep under it. Empty for an unknown
/// scheme.
std::map<std::uint64_t, catalog::BlockName> blocks_to_keep(const catalog::Protection& protection, unsigned position);

ipc::KeptSummary summary_of(const catalog::Protection& protection);

}  // namespace perdure::engine
