// A rank that moved has left its piece where it was. It is protected where it runs now, and there only.
#include "engine/scripted_group.hpp"

namespace perdure::engine {
namespace {

class MovedRanks : public ScriptedGroup {
 protected:
  Membership membership(unsigned position, std::uint64_t epoch) override {
    Membership made = ScriptedGroup::membership(position, epoch);
    made.ranks = {position};
    return made;
  }
};

TEST_F(MovedRanks, AreProtectedWhereTheyRunNow) {
  make({"xor", 3, 1, 0}, 1);
  nodes_[0]->checkpoint(first_, {2, 2}, 0, 3, random_);  // ranks 0 and 1
  nodes_[1]->checkpoint(first_, {2}, 1, 3, random_);
  nodes_[2]->checkpoint(first_, {2}, 2, 3, random_);
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  for (auto& node : nodes_) {
    const auto* protection = node->core().find(catalog::ProtectionId{first_, 7});
    ASSERT_NE(protection, nullptr);
    for (unsigned p = 0; p < 3; ++p) {
      ASSERT_EQ(protection->members.at(p).size(), 1U);
      EXPECT_EQ(protection->members[p][0].rank, p);
    }
  }
}

}  // namespace
}  // namespace perdure::engine
