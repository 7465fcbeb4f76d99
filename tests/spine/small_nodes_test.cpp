// Tests nodes with room for few versions and redundancy blocks. Each node has to learn that older blocks are no longer
// needed, or new chunks find no slot.
#include <gtest/gtest.h>

#include "node_loss.hpp"
#include "support/sanitized.hpp"

namespace {

using namespace perdure::test_support;

constexpr std::uint64_t kReplacedVersions = 12;

// Without the store, the nodes have the only data. Older versions go with their parities once a newer one is at level
// node on all nodes.
class SmallNodes : public NodeLoss {};
std::vector<Loss> three_nodes() {
  // A version takes two slots of 2 MiB on each node, and a third for the parity of others. From the fourth version on,
  // one slot comes from a parity that is no longer needed, and two from the oldest version.
  const std::string room = ";tier.order=memory;tier.memory.max_bytes=16MiB;checkpoint.timeout=20";
  const Loss embedded{"embedded", "embedded", "xor", 3, 1, {}, true, room},
      daemon{"daemon", "daemon", "xor", 3, 1, {}, true, room};
  return unless_sanitized<std::vector<Loss>>({embedded, daemon}, {embedded});
}
INSTANTIATE_TEST_SUITE_P(Modes, SmallNodes, ::testing::ValuesIn(three_nodes()),
                         [](const auto& param) { return param.param.name; });

TEST_P(SmallNodes, WhatIsReplacedOnAllNodesMakesRoomForNewVersionsAndTheirParities) {
  expect_done(without_store(), "", [](const Rank&, perdure_t* handle, State& state) {
    for (std::uint64_t version = 1; version <= kReplacedVersions; ++version)
      REQUIRE(checkpoint_to_node(handle, state, version) == 0);
    std::fill(state.words.begin(), state.words.end(), 0);
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == kReplacedVersions && state.right());
    return 0;
  });
}

// Every rank's piece is then on two nodes: where it was written, which stores it, and where the rank runs now. No node
// can say that its part is stored; the store itself says that the version is complete, and that frees the room.
TEST_P(SmallNodes, WhatMovedMakesRoomWhenOtherNodesHaveBroughtItToTheStore) {
  live_and_die(1);
  expect_done(with_full("/store/app/2/"), ";node.numbers=1,2,0", [](const Rank&, perdure_t* handle, State& state) {
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_restore(handle, "app", PERDURE_LATEST));
    REQUIRE(state.step == 1 && state.right());
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_NODE, 30));
    REQUIRE_STATUS(PERDURE_OK, handle, perdure_wait(handle, "app", 1, PERDURE_LEVEL_STORE, 30));
    return checkpoint_to_node(handle, state, 2);
  });
}

}  // namespace
