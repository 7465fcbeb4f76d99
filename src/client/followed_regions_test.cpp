// The session asks owners, and their regions follow them, all at once or none.
#include "client/followed_regions.hpp"

#include <gtest/gtest.h>

namespace perdure::client {
namespace {

struct Container {
  std::byte* data = nullptr;
  std::size_t count = 0;
  int refuses = 0;
  int asked = 0;
  static int locate(void* owner, void** address, std::size_t* count) {
    auto& self = *static_cast<Container*>(owner);
    ++self.asked;
    *address = self.data;
    *count = self.count;
    return self.refuses;
  }
};

class FollowedRegion : public testing::Test {
 protected:
  void SetUp() override {
    for (std::int32_t id : {0, 1, 2}) {
      owners_[id] = {memory_.data() + 100 * id, 100};
      ASSERT_TRUE(table_.protect({id, owners_[id].data, 1, 100}));
      ASSERT_TRUE(followed_.follow(*table_.find(id), Container::locate, &owners_[id]));
    }
  }
  base::Result<bool> update() {
    return followed_.update(table_, [](const capture::Region&) { return base::Status(); });
  }
  /// `others`: bytes of regions without an owner.
  void expect_places(std::uint64_t others = 0) {
    std::uint64_t bytes = others;
    for (const auto& [id, owner] : owners_) {
      EXPECT_EQ(table_.find(id)->address, owner.data) << id;
      EXPECT_EQ(table_.find(id)->bytes(), owner.count) << id;
      bytes += owner.count;
    }
    EXPECT_EQ(table_.bytes(), bytes);
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
  capture::RegionTable table_;
  FollowedRegions followed_;
  std::map<std::int32_t, Container> owners_;
};

TEST_F(FollowedRegion, GoesRoundWithTwoOthersThatChangePlaces) {
  std::swap(owners_[0], owners_[1]);
  std::swap(owners_[1], owners_[2]);
  EXPECT_EQ(update().value(), true);
  expect_places();
  EXPECT_EQ(update().value(), false) << "it is there";
}

TEST_F(FollowedRegion, GrowsIntoMemoryThatAnotherLeavesAtTheSameTime) {
  owners_[0].count = 150;
  owners_[1].data = memory_.data() + 1000;
  EXPECT_EQ(update().value(), true);
  expect_places();
  EXPECT_FALSE(table_.protect({7, memory_.data() + 140, 1, 10})) << "its memory is known";
  EXPECT_TRUE(table_.protect({7, memory_.data() + 150, 1, 50})) << "and what the other left is free";
}

TEST_F(FollowedRegion, KeepsItsNameTypeAndWhatItMayBe) {
  ASSERT_TRUE(table_.set_label(0, {"u", "m", ""}));
  ASSERT_TRUE(
      table_.set_elements(0, {array::ElementType::parse("u1", "test").value(), std::vector<std::uint64_t>{100}}));
  ASSERT_TRUE(table_.set_optional(0, true));
  table_.note_restored({0, 1, 2}, {});
  owners_[0] = {memory_.data() + 1000, 20};
  ASSERT_TRUE(update());
  expect_places();
  const auto& region = *table_.find(0);
  EXPECT_EQ(region.text(), "region 0 'u'");
  EXPECT_TRUE(region.optional);
  EXPECT_TRUE(region.restored);
  EXPECT_EQ(segment::elements_of(table_.entries().front()),
            (segment::Elements{array::ElementType::parse("u1", "test").value(), {}}))
      << "its shape is another one";
}

TEST_F(FollowedRegion, StaysWithAllOthersWhereOneCannotBeFollowed) {
  const auto before = owners_;
  owners_[0].data = memory_.data() + 1000;
  owners_[1].data = memory_.data() + 250;  // within the third
  const auto overlaps = update();
  ASSERT_FALSE(overlaps);
  EXPECT_EQ(overlaps.error().text().find("region 1: its memory overlaps region 2"), 0U) << overlaps.error().text();
  owners_[1] = {nullptr, 0};
  EXPECT_FALSE(update());
  owners_[1] = before.at(1);
  owners_[2].refuses = 5;
  const auto refused = update();
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().text().find("region 2: its owner cannot say where it is: it says 5"), std::string::npos);
  const auto checked = followed_.update(table_, [](const capture::Region& region) -> base::Status {
    return base::fail(PERDURE_NO_SPACE, region.text(), "");
  });
  EXPECT_FALSE(checked);
  for (const auto& [id, owner] : before) owners_[id] = owner;
  expect_places();
  EXPECT_EQ(update().value(), false) << "what was asked meanwhile is forgotten";
}

TEST_F(FollowedRegion, OfMoreBytesThanThereCanBeIsRefused) {
  owners_[0] = {memory_.data(), ~std::size_t{0}};
  const auto refused = update();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, PERDURE_INVALID_ARGUMENT);
}

TEST_F(FollowedRegion, MakesWayWhereItsOwnerHasGone) {
  const capture::Region wanted{7, memory_.data() + 50, 1, 100};  // memory of the first two
  followed_.make_way(wanted, table_);
  EXPECT_FALSE(table_.protect(wanted));
  owners_[0].data = memory_.data() + 1000;
  followed_.make_way(wanted, table_);
  EXPECT_FALSE(table_.protect(wanted)) << "the other is still there";
  owners_[1].data = memory_.data() + 1100;
  followed_.make_way(wanted, table_);
  ASSERT_TRUE(table_.protect(wanted));
  EXPECT_EQ(update().value(), true);
  expect_places(100);
  owners_[0].data = memory_.data() + 1000;
  ASSERT_TRUE(table_.unprotect(7));
  EXPECT_TRUE(table_.protect({8, memory_.data(), 1, 200})) << "nobody has it any more";
}

TEST_F(FollowedRegion, ThatComesBackIsWhereItWas) {
  const capture::Region wanted{7, memory_.data(), 1, 100};
  owners_[0].data = memory_.data() + 1000;
  followed_.make_way(wanted, table_);
  ASSERT_TRUE(table_.protect(wanted));
  owners_[0].data = memory_.data();
  EXPECT_FALSE(update()) << "another region is there";
  ASSERT_TRUE(table_.unprotect(7));
  EXPECT_EQ(update().value(), true);
  EXPECT_FALSE(table_.protect(wanted)) << "its memory is its own again";
}

TEST_F(FollowedRegion, ThatLeftItsMemoryIsForgottenWithoutHarmToWhoHasIt) {
  const capture::Region wanted{7, memory_.data(), 1, 100};
  owners_[0].data = memory_.data() + 1000;
  followed_.make_way(wanted, table_);
  ASSERT_TRUE(table_.protect(wanted));
  ASSERT_TRUE(table_.unprotect(0));
  followed_.forget(0);
  owners_.erase(0);
  EXPECT_FALSE(table_.protect({8, memory_.data() + 99, 1, 1})) << "the region 7 is there";
  EXPECT_EQ(update().value(), false);
}

TEST_F(FollowedRegion, ThatIsForgottenIsNotAskedFor) {
  const int asked = owners_[0].asked;
  followed_.forget(0);
  ASSERT_TRUE(update());
  EXPECT_EQ(owners_[0].asked, asked);
  EXPECT_GT(owners_[1].asked, 1);
}

TEST_F(FollowedRegion, ThatIsRefusedForSomebodyElseIsRefusedOnce) {
  followed_.refuse_next({PERDURE_INVALID_ARGUMENT, "region 1", "its dict has it not", "", false});
  const auto refused = followed_.take_refusal();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(), "region 1: its dict has it not (invalid-argument)");
  EXPECT_TRUE(followed_.take_refusal());
}

}  // namespace
}  // namespace perdure::client
