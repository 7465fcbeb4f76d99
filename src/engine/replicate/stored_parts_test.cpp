// Tests a group whose nodes report when their part of a version is in the store. Only when all have done so is the
// redundancy on the others not needed any more.
#include "engine/replicate/scripted_group_testing.hpp"

namespace perdure::engine {
namespace {

class StoredParts : public ScriptedGroup {
 protected:
  bool needed(unsigned position) {
    const auto guard = nodes_[position]->lock();
    return nodes_[position]->core().redundancy.needed_by_others();
  }
  /// Waits for all to be through with it.
  bool nobody_needs_anything() {
    return eventually("nobody needs what the others keep", [&] {
      bool any = false;
      for (unsigned p = 0; p < nodes_.size(); ++p) any = any || needed(p);
      return !any;
    });
  }
};

TEST_F(StoredParts, WhenAllHaveStoredTheirsTheRoomIsThereForTheNextVersion) {
  make({"xor", 3, 1, 0}, 1, 4);  // room for a version, its parity, and one chunk
  std::mt19937_64 random(5);
  for (std::uint64_t version = 1; version <= 12; ++version) {
    SCOPED_TRACE("version " + std::to_string(version));
    const segment::VersionId id{"app", version, {version, version}};
    for (unsigned p = 0; p < 3; ++p) nodes_[p]->checkpoint(id, {2}, p, 3, random);
    if (HasFatalFailure()) return;
    for (auto& node : nodes_) node->replicator().committed(id);
    ASSERT_TRUE(wait_reached(id));
    expect_protected(id, 7);
    for (unsigned p = 0; p < 3; ++p) {
      for (unsigned other = 0; other < 3; ++other) EXPECT_TRUE(needed(other)) << "node " << p << " has not stored it";
      store(p, id);
    }
    ASSERT_TRUE(nobody_needs_anything());
  }
}

TEST_F(StoredParts, WhatTheJobWentBackToStaysWhateverWasProtectedEverywhereBefore) {
  make({"xor", 3, 1, 0}, 1);
  for (const auto& id : {first_, second_}) {
    commit(id);
    protect(id);
    ASSERT_TRUE(wait_reached(id));
  }
  store(0, first_);
  const auto may_go = [&] {
    const auto guard = nodes_[0]->lock();
    return nodes_[0]->core().held.evictable(*nodes_[0]->core().find(first_));
  };
  const auto say = [&](const segment::VersionId& id) {
    const auto guard = nodes_[0]->lock();
    nodes_[0]->core().redundancy.node_level_everywhere(id.name, id.attempt.created_ns);
  };
  EXPECT_FALSE(may_go());
  say(first_);
  EXPECT_FALSE(may_go()) << "it is the newest";
  say(second_);
  EXPECT_TRUE(may_go());
  say(first_);
  EXPECT_FALSE(may_go()) << "what was said last holds";
}

TEST_F(StoredParts, WhatWasStoredBeforeItWasProtectedIsSaidAfterwards) {
  make({"buddy", 3, 0, 0}, 1);
  std::mt19937_64 random(5);
  for (unsigned p = 0; p < 3; ++p) nodes_[p]->checkpoint(first_, {2}, p, 3, random);
  store(0, first_);
  for (auto& node : nodes_) node->replicator().committed(first_);
  store(1, first_);
  ASSERT_TRUE(wait_reached(first_));
  for (unsigned p = 0; p < 3; ++p) EXPECT_TRUE(needed(p)) << "node 2 has not stored it";
  store(2, first_);
  EXPECT_TRUE(nobody_needs_anything());
}

}  // namespace
}  // namespace perdure::engine
