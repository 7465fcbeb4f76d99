#include "engine/serve/room_look.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/eventually.hpp"

namespace perdure::engine {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::uint64_t kLookSecond = 1'000'000'000;
constexpr LookChoice kBegin{true, true}, kBeginAside{true, false}, kWait{false, true}, kNeither{};

TEST(ChooseLook, LooksAtOnceAndAgainAfterAWhile) {
  const LookState never, ended{false, 90 * kLookSecond, 100 * kLookSecond};
  EXPECT_EQ(choose_look(never, LookWanted::room, 1), kBegin);
  EXPECT_EQ(choose_look(never, LookWanted::more, 1), kBeginAside);
  EXPECT_EQ(choose_look(ended, LookWanted::room, 104 * kLookSecond), kNeither) << "it found what there was";
  EXPECT_EQ(choose_look(ended, LookWanted::room, 105 * kLookSecond), kBegin);
  EXPECT_EQ(choose_look(ended, LookWanted::more, 159 * kLookSecond), kNeither);
  EXPECT_EQ(choose_look(ended, LookWanted::more, 160 * kLookSecond), kBeginAside);
}

TEST(ChooseLook, IsWaitedForByWhoHasNoRoomUnlessAStoreDoesNotAnswer) {
  const LookState looking{true, 100 * kLookSecond, {}};
  EXPECT_EQ(choose_look(looking, LookWanted::room, 101 * kLookSecond), kWait);
  EXPECT_EQ(choose_look(looking, LookWanted::more, 101 * kLookSecond), kNeither);
  EXPECT_EQ(choose_look(looking, LookWanted::room, 110 * kLookSecond), kNeither);
}

TEST(RoomLook, OfNobodyFindsNothing) {
  Background background([] {});
  RoomLook look({}, background);
  EXPECT_FALSE(look.wants(LookWanted::room));
  EXPECT_EQ(look.explained({PERDURE_NO_SPACE, "tiers", "no room", "raise it", false}).cause, "no room");
}

TEST(RoomLook, SaysAtItsEndWhatIsInTheWay) {
  std::atomic<int> woken = 0, looks = 0;
  Background background([&] { ++woken; });
  RoomLook look(
      [&](const auto&) {
        ++looks;
        return RoomFound{"dead engines left 7 B"};
      },
      background);
  ASSERT_TRUE(look.wants(LookWanted::room));
  ASSERT_TRUE(test_support::eventually("the event loop is woken", [&] { return woken == 1; }));
  EXPECT_FALSE(look.wants(LookWanted::room)) << "what there was was found a moment ago";
  EXPECT_EQ(looks, 1);
  const base::Error refused = look.explained({PERDURE_NO_SPACE, "tiers", "no room", "raise it", false});
  EXPECT_EQ(refused.cause, "no room; dead engines left 7 B");
  EXPECT_THAT(refused.remedy, HasSubstr("raise it, or see what nobody needs any more: perdure prune --node"));
  EXPECT_THAT(look.explained({PERDURE_TIMEOUT, "tiers", "late", "", false}).cause, Not(HasSubstr("dead")));
}

TEST(RoomLook, ThatFailsIsOver) {
  std::atomic<int> woken = 0;
  Background background([&] { ++woken; });
  RoomLook look([](const auto&) -> RoomFound { throw std::bad_alloc(); }, background);
  ASSERT_TRUE(look.wants(LookWanted::room));
  ASSERT_TRUE(test_support::eventually("the event loop is woken", [&] { return woken == 1; }));
  EXPECT_FALSE(look.wants(LookWanted::room));
}

TEST(RoomLook, IsToldToStop) {
  std::atomic<bool> stopped = false;
  Background background([] {});
  RoomLook look(
      [&](const auto& stop) {
        EXPECT_TRUE(test_support::eventually("it is told", stop));
        stopped = true;
        return RoomFound{};
      },
      background);
  ASSERT_TRUE(look.wants(LookWanted::room));
  look.stop();
  background.finish();
  EXPECT_TRUE(stopped);
  EXPECT_FALSE(look.wants(LookWanted::room)) << "the engine ends";
}

}  // namespace
}  // namespace perdure::engine
