#pragma once
// For tests only: runs a node that keeps redundancy blocks of other nodes.
#include "engine/ledger/node_state_testing.hpp"

namespace perdure::engine {

class RedundancyFixture : public NodeStateFixture {
 protected:
  static catalog::RedundancyId protection_id(std::uint64_t version, std::uint64_t epoch = 1) {
    return {id(version), epoch};
  }
  /// Returns the set of position 1 of three, with its blocks in these slots.
  static catalog::RedundancySet redundancy_set(std::uint64_t version, const std::vector<tier::SlotAddress>& slots,
                                               std::uint64_t epoch = 1) {
    catalog::RedundancySet kept{protection_id(version, epoch), 3, 0, "xor", 1, 1, {}, {}, false};
    for (std::uint32_t rank = 0; rank < 3; ++rank)
      kept.members.push_back({{rank, kChunk, {{0, 1, kChunk}}, {{0, kChunk, content_hash(), 0}}}});
    for (std::size_t i = 0; i < slots.size(); ++i)
      kept.kept[{i, 0}] = {slots[i].slot, kChunk, content_hash(), slots[i].tier};
    return kept;
  }
  tier::SlotAddress take(std::uint64_t version) {
    auto slot = core->room.take_for_redundancy(id(version), kChunk);
    EXPECT_TRUE(slot) << slot.error().text();
    return slot ? *slot : tier::SlotAddress();
  }
  bool keep_one(std::uint64_t version, std::uint64_t epoch = 1) {
    return core->redundancy.keep(redundancy_set(version, {take(version)}, epoch)).has_value();
  }
};

}  // namespace perdure::engine
