#pragma once
// Computes which blocks a position has to keep for its group, from what all members have. Pure (docs/adr/0014).
#include <map>
#include <set>
#include <string>
#include <vector>

#include "catalog/redundancy_set.hpp"
#include "ipc/messages.hpp"
#include "redundancy/block_order.hpp"
#include "redundancy/scheme.hpp"

namespace perdure::engine {

std::vector<redundancy::BlockOrder> block_orders(const std::vector<std::vector<segment::Piece>>& members);

/// Returns, by number of redundancy::Item, the block that this position should keep under it, in a group whose position
/// p has the blocks orders[p]. A server's position is the one after the last.
std::map<std::uint64_t, catalog::BlockName> blocks_to_keep(const redundancy::BlockMap& map,
                                                           const std::vector<redundancy::BlockOrder>& orders,
                                                           unsigned position);
/// The same from a catalog record. Empty for an unknown scheme.
std::map<std::uint64_t, catalog::BlockName> blocks_to_keep(const catalog::RedundancySet& redundancy_set,
                                                           unsigned position);

ipc::RedundancySummary summary_of(const catalog::RedundancySet& redundancy_set);

/// Returns the names of checkpoints of `ranks` ranks (0: any number) that have redundancy here, ascending.
std::vector<std::string> checkpoint_names(const std::map<catalog::RedundancyId, catalog::RedundancySet>& sets,
                                          std::uint32_t ranks);

}  // namespace perdure::engine
