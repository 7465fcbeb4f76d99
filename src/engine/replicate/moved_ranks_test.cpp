// Tests a rank that migrated and left its piece where it was: the piece is replicated where the rank runs now, and only
// there.
#include "engine/replicate/scripted_group_testing.hpp"

namespace perdure::engine {
namespace {

class MovedRanks : public ScriptedGroup {
 protected:
  Membership membership(unsigned position, std::uint64_t epoch) override {
    Membership made = ScriptedGroup::membership(position, epoch);
    made.ranks = {position};
    return made;
  }
  void SetUp() override {
    options_.ask_store = [this](const segment::VersionId& id) {
      std::lock_guard guard(asked_mutex_);
      asked_.push_back(id);
    };
  }
  /// Moves it from node 0, which stores it with its own rank's piece.
  void move_rank_1() {
    nodes_[0]->checkpoint(first_, {2, 2}, 0, 3, random_);
    nodes_[1]->receive(first_, 2, 1, 3, random_);
    nodes_[2]->checkpoint(first_, {2}, 2, 3, random_);
  }
  bool needed(unsigned position) {
    const auto guard = nodes_[position]->lock();
    return nodes_[position]->core().redundancy.needed_by_others();
  }
  std::vector<segment::VersionId> asked() {
    std::lock_guard guard(asked_mutex_);
    return asked_;
  }

 private:
  std::mutex asked_mutex_;
  std::vector<segment::VersionId> asked_;
};

TEST_F(MovedRanks, AreProtectedWhereTheyRunNow) {
  make({"xor", 3, 1, 0}, 1);
  move_rank_1();
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  for (auto& node : nodes_) {
    const auto redundancy_set = node->redundancy_set({first_, 7});
    ASSERT_TRUE(redundancy_set);
    for (unsigned p = 0; p < 3; ++p) {
      ASSERT_EQ(redundancy_set->members.at(p).size(), 1U);
      EXPECT_EQ(redundancy_set->members[p][0].rank, p);
    }
  }
}

// Node 0 could be lost before it has stored the piece, and node 1 after it.
TEST_F(MovedRanks, AreKeptUntilTheStoreHasThemThoughTheNodeTheyAreOnHasNothingToStore) {
  make({"xor", 3, 1, 0}, 1);
  move_rank_1();
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  nodes_[1]->replicator().stored(first_);
  store(2, first_);
  store(0, first_);
  ASSERT_TRUE(quiescent()) << "all are told then";
  for (unsigned p = 0; p < 3; ++p) EXPECT_TRUE(needed(p)) << p;
  EXPECT_FALSE(nodes_[1]->replicator().state(first_).stored);
  EXPECT_TRUE(nodes_[0]->replicator().state(first_).stored);
  for (auto& node : nodes_) node->replicator().whole_at_store(first_);
  for (unsigned p = 0; p < 3; ++p)
    EXPECT_TRUE(eventually("nobody needs what the node keeps", [&] { return !needed(p); })) << p;
}

TEST_F(MovedRanks, OfWhatIsProtectedTheStoreIsAskedWhenRoomIsWanted) {
  make({"xor", 3, 1, 0}, 1);
  move_rank_1();
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  nodes_[0]->replicator().release_room();
  EXPECT_TRUE(asked().empty()) << "it is what brings it there";
  nodes_[1]->replicator().release_room();
  EXPECT_EQ(asked(), std::vector{first_});
  EXPECT_TRUE(nodes_[1]->replicator().state(first_).reached);
}

TEST_F(MovedRanks, GiveWayBeforeTheyAreProtectedBecauseTheyAreWhereTheyCameFrom) {
  make({"xor", 3, 1, 0}, 1);
  move_rank_1();
  stop_keeps(0, 1);
  protect(first_);
  ASSERT_TRUE(eventually("node 1 records the version", [&] { return recorded(1, first_); }));
  nodes_[1]->replicator().whole_at_store(first_);
  EXPECT_TRUE(recorded(1, first_)) << "only what is reached can be let go of in that way";
  nodes_[1]->replicator().release_room();
  const auto why = nodes_[1]->replicator().state(first_).failed;
  ASSERT_TRUE(why);
  EXPECT_NE(why->text().find("other nodes bring it to the store"), std::string::npos) << why->text();
  EXPECT_TRUE(eventually("node 1 drops its record", [&] { return !recorded(1, first_); }))
      << "its record may have been on the way";
}

TEST_F(MovedRanks, AreGivenUpWhereThereIsNoRoomForWhatIsKept) {
  make({"xor", 3, 1, 0}, 1, 4);
  nodes_[1]->begin(second_, 1, 2, 3);
  for (int chunk = 0; chunk < 2; ++chunk) nodes_[1]->write(second_, random_);  // half of its room
  move_rank_1();
  protect(first_);
  EXPECT_TRUE(eventually("the version fails at node 1", [&] { return failed(1, first_); }));
}

}  // namespace
}  // namespace perdure::engine
