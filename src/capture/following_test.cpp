// Tests what an owner's answer means for a region.
#include "capture/following.hpp"

#include <gtest/gtest.h>

namespace perdure::capture {
namespace {

class Followed : public testing::Test {
 protected:
  std::byte* at(std::size_t offset) { return memory_.data() + offset; }
  OwnedElements has(std::size_t offset, std::uint64_t count) { return {at(offset), count}; }
  /// Has elements of 8 bytes.
  Region local(std::size_t offset, std::uint64_t count) { return {3, count == 0 ? nullptr : at(offset), 8, count}; }
  static segment::ArrayEntry array(segment::ArrayKind kind, std::vector<std::uint64_t> extents) {
    segment::ArrayEntry entry;
    entry.label.name = "field";
    entry.type = array::ElementType::parse("f8", "test").value();
    entry.kind = kind;
    entry.whole = array::whole(extents, 8, "test").value();
    return entry;
  }
  Region list(std::size_t offset, std::uint64_t rows) {
    const auto entry = array(segment::ArrayKind::list, {rows, 3});
    std::vector<OwnedBox> owned;
    if (rows > 0) owned.push_back({entry.whole, at(offset)});
    return region_of(ArrayPart::make(3, entry, {}, owned, true).value());
  }
  /// Has 4 of 10 elements, with a ghost on either side.
  Region block(std::size_t offset) {
    Ghosts ghosts;
    ghosts.width[0] = 1;
    return region_of(
        ArrayPart::make(3, array(segment::ArrayKind::global, {10}), ghosts, {{{1, {2}, {6}}, at(offset)}}, true)
            .value());
  }
  static void expect_refused(const base::Result<std::optional<Region>>& followed, const std::string& text) {
    ASSERT_FALSE(followed);
    EXPECT_EQ(followed.error().code, PERDURE_INVALID_ARGUMENT);
    EXPECT_EQ(followed.error().text().find(text), 0U) << followed.error().text();
  }
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
};

TEST_F(Followed, IsWhereItWasWhereItsOwnerSaysSo) {
  EXPECT_FALSE(followed(local(0, 10), has(0, 10), has(0, 10)).value());
  EXPECT_FALSE(followed(local(0, 0), has(0, 0), has(800, 0)).value()) << "there is nothing to be anywhere";
  EXPECT_FALSE(followed(local(0, 0), {nullptr, 0}, has(800, 0)).value());
  EXPECT_FALSE(followed(block(8), has(0, 6), has(0, 6)).value());
}

TEST_F(Followed, MovesAndGrowsWithAnOwnerThatHasNothingElse) {
  const auto moved = followed(local(0, 10), has(0, 10), has(800, 10)).value();
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->id, 3);
  EXPECT_EQ(moved->address, at(800));
  EXPECT_EQ(moved->bytes(), 80U);
  const auto grown = followed(local(0, 10), has(0, 10), has(0, 20)).value();
  ASSERT_TRUE(grown);
  EXPECT_EQ(grown->bytes(), 160U);
  EXPECT_EQ(followed(local(0, 0), {nullptr, 0}, has(8, 2)).value()->address, at(8)) << "of one that had no elements";
}

TEST_F(Followed, IsAPartOfItsOwnerAtTheSameDistance) {
  const auto moved = followed(local(80, 10), has(0, 100), has(1600, 100)).value();
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->address, at(1680));
  EXPECT_EQ(moved->count, 10U);
  EXPECT_EQ(followed(local(0, 10), has(0, 100), has(1600, 100)).value()->count, 10U) << "the first of them";
  expect_refused(followed(local(80, 10), has(0, 100), has(1600, 101)),
                 "region 3: its owner has 101 elements, and had 100, of which it is a part (");
}

TEST_F(Followed, MovesWithItsBoxesWhichRanksHaveTogether) {
  const Region before = block(8);
  const auto moved = followed(before, has(0, 6), has(800, 6)).value();
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->address, at(808));
  EXPECT_EQ(moved->part->address(), at(808));
  EXPECT_EQ(moved->part->memory().front().box, before.part->memory().front().box);
  EXPECT_EQ(moved->part->stored(), before.part->stored());
  expect_refused(followed(before, has(0, 6), has(800, 7)),
                 "region 3 'field': its owner has 7 elements, and had 6, of which it is a part of an array");
}

TEST_F(Followed, OfNoElementsIsStillRefusedWhereRanksWouldHaveSomeTogether) {
  const Region none = region_of(ArrayPart::make(3, array(segment::ArrayKind::replicated, {0}), {}, {}, true).value());
  EXPECT_FALSE(followed(none, {nullptr, 0}, has(800, 0)).value());
  expect_refused(followed(none, {nullptr, 0}, has(800, 5)),
                 "region 3 'field': its owner has 5 elements, and had 0, of which it is a part of an array");
  const Region empty = region_of(ArrayPart::make(3, array(segment::ArrayKind::global, {10}), {}, {}, true).value());
  EXPECT_FALSE(followed(empty, has(0, 7), has(800, 5)).value()) << "this rank's block has no elements";
}

TEST_F(Followed, HasOtherRowsWhereItIsAList) {
  const auto grown = followed(list(0, 4), has(0, 12), has(800, 21)).value();
  ASSERT_TRUE(grown);
  EXPECT_EQ(grown->part->rows(), 7U);
  EXPECT_EQ(grown->part->address(), at(800));
  EXPECT_EQ(grown->bytes(), 21 * 8U);
  EXPECT_EQ(followed(list(0, 0), {nullptr, 0}, has(0, 3)).value()->part->rows(), 1U) << "of one that had none";
  const auto placed = list(0, 4).part->place(100, 1000).value();  // as ranks agreed at a checkpoint
  EXPECT_EQ(followed(region_of(placed), has(0, 12), has(800, 15)).value()->part->rows(), 5U);
  EXPECT_EQ(followed(region_of(placed), has(0, 12), has(800, 12)).value()->part->address(), at(800));
  expect_refused(followed(list(0, 4), has(0, 12), has(800, 13)),
                 "region 3 'field': its owner has 13 elements, and had 12: they are no rows of 3");
}

TEST_F(Followed, IsNotTakenForClearedWhereItMayHaveMovedAway) {
  for (const Region& region : {local(0, 12), list(0, 4)}) {
    for (const auto& now : {OwnedElements{nullptr, 0}, has(0, 0), has(800, 0)})
      expect_refused(followed(region, has(0, 12), now),
                     region.text() + ": its owner has 0 elements, and had 12: was it moved or cleared?");
    expect_refused(followed(region, has(0, 12), {nullptr, 12}),
                   region.text() + ": its owner says that 12 elements are at no address");
  }
}

TEST_F(Followed, IsWithinWhatItsOwnerHasWhenThatIsSaid) {
  EXPECT_TRUE(check_owner(local(0, 10), has(0, 10)));
  EXPECT_TRUE(check_owner(local(80, 10), has(0, 20)));
  EXPECT_TRUE(check_owner(local(0, 0), has(800, 5))) << "without memory it is anywhere";
  EXPECT_TRUE(check_owner(local(80, 10), has(0, ~std::uint64_t{0}))) << "a number beyond all memory";
  EXPECT_FALSE(check_owner(local(80, 10), has(0, 19)));
  EXPECT_FALSE(check_owner(local(80, 10), has(88, 100)));
  EXPECT_FALSE(check_owner(local(80, 10), {nullptr, 0}));
  EXPECT_TRUE(check_owner(block(8), has(0, 6)));
  EXPECT_TRUE(check_owner(block(8), has(0, 5))) << "its last ghost alone is not there";
  EXPECT_FALSE(check_owner(block(8), has(0, 4)));
  EXPECT_FALSE(check_owner(block(8), has(16, 60)));
}

TEST_F(Followed, HasLeftItsMemoryOnceItsOwnerIsElsewhere) {
  EXPECT_FALSE(has_left(has(0, 10), has(0, 10)));
  EXPECT_FALSE(has_left(has(0, 10), has(0, 20)));
  EXPECT_TRUE(has_left(has(0, 10), has(8, 10)));
  EXPECT_TRUE(has_left(has(0, 10), {nullptr, 0}));
}

}  // namespace
}  // namespace perdure::capture
