#include "capture/block_plan.hpp"

#include <gtest/gtest.h>

#include <set>

namespace perdure::capture {
namespace {

using State = BlockState;
using Event = BlockEvent;

std::byte* target(std::uintptr_t at) { return reinterpret_cast<std::byte*>(at); }

TEST(BlockPlan, KnowsWhatEveryEventMakesOfEveryState) {
  struct Row {
    State from;
    Event event;
    std::optional<State> to;
  };
  const Row rows[] = {
      {State::untouched, Event::take, State::copying}, {State::untouched, Event::finish, std::nullopt},
      {State::untouched, Event::lose, State::lost},    {State::copying, Event::take, std::nullopt},
      {State::copying, Event::finish, State::copied},  {State::copying, Event::lose, State::lost},
      {State::copied, Event::take, std::nullopt},      {State::copied, Event::finish, std::nullopt},
      {State::copied, Event::lose, State::copied},     {State::lost, Event::take, std::nullopt},
      {State::lost, Event::finish, std::nullopt},      {State::lost, Event::lose, State::lost},
  };
  for (const Row& row : rows)
    EXPECT_EQ(after(row.from, row.event), row.to)
        << "state " << static_cast<int>(row.from) << " event " << static_cast<int>(row.event);
}

TEST(BlockPlan, CoversItsRangesOnceAndInOrder) {
  const BlockPlan plan({{0x13000, 0x3a000, target(0x900000)}, {0x4000, 0x6000, target(0x100)}}, 0x10000);
  ASSERT_EQ(plan.size(), 4U);
  EXPECT_EQ(plan.block(0), (CopyPart{0x13000, 0x20000, target(0x900000)}));
  EXPECT_EQ(plan.block(1), (CopyPart{0x20000, 0x30000, target(0x90d000)}));
  EXPECT_EQ(plan.block(2), (CopyPart{0x30000, 0x3a000, target(0x91d000)}));
  EXPECT_EQ(plan.block(3), (CopyPart{0x4000, 0x6000, target(0x100)}));
  EXPECT_EQ(plan.first_of(1), 3U);
  EXPECT_EQ(plan.first_of(2), 4U);
  for (std::uint64_t address = 0; address < 0x40000; address += 0x800) {
    const auto number = plan.at(address);
    const bool inside = (address >= 0x13000 && address < 0x3a000) || (address >= 0x4000 && address < 0x6000);
    ASSERT_EQ(number.has_value(), inside) << std::hex << address;
    if (!number) continue;
    EXPECT_LE(plan.block(*number).begin, address);
    EXPECT_LT(address, plan.block(*number).end);
  }
}

TEST(BlockPlan, LosesWhatIsNotCopied) {
  BlockPlan plan({{0x10000, 0x40000, nullptr}}, 0x10000);
  ASSERT_TRUE(plan.happens(0, Event::take));
  ASSERT_TRUE(plan.happens(0, Event::finish));
  ASSERT_TRUE(plan.happens(1, Event::take));
  EXPECT_FALSE(plan.lose(0, 0x10000));
  EXPECT_FALSE(plan.lose(0x10000, 0x20000)) << "it was copied before";
  EXPECT_TRUE(plan.lose(0x1f000, 0x21000));
  EXPECT_EQ(plan.state(0), State::copied);
  EXPECT_EQ(plan.state(1), State::lost);
  EXPECT_EQ(plan.state(2), State::untouched);
  EXPECT_FALSE(plan.happens(1, Event::finish));
}

TEST(BlockPlan, GoesAheadOfWhoWritesOneBlockAfterTheOther) {
  BlockPlan plan({{0, 20 * 0x1000, nullptr}, {0x100000, 0x102000, nullptr}}, 0x1000);
  EXPECT_EQ(plan.next(2), 2U);
  plan.waited_for(10);
  ASSERT_TRUE(plan.happens(12, Event::take));
  for (const std::size_t number : {11U, 13U, 14U, 2U, 2U}) EXPECT_EQ(plan.next(2), number);
  plan.waited_for(19);  // the next range is another's memory
  EXPECT_EQ(plan.next(3), 3U);
}

TEST(CopyChoice, TakesWholePagesThatCanBeProtectedAndCopiesTheRestAtOnce) {
  const std::vector<CopyPart> parts = {{0x10010, 0x30ff0, target(0x1000)},    // edges on both sides
                                       {0x30ff0, 0x31800, target(0x200)},     // no whole page
                                       {0x50000, 0x60000, target(0x90000)},   // nothing but pages
                                       {0x70000, 0x90000, target(0xa0000)},   // leaves what can be protected
                                       {0x40000, 0x42000, target(0xf0000)}};  // short
  const CopyChoice choice = choose_copy(parts, {{0x10000, 0x42000}, {0x50000, 0x80000}}, {0x1000, 0x4000, 10});
  EXPECT_EQ(choice.later,
            (std::vector<CopyPart>{{0x11000, 0x30000, target(0x1ff0)}, {0x50000, 0x60000, target(0x90000)}}));
  EXPECT_EQ(choice.now, (std::vector<CopyPart>{{0x10010, 0x11000, target(0x1000)},
                                               {0x30000, 0x30ff0, target(0x20ff0)},
                                               {0x30ff0, 0x31800, target(0x200)},
                                               {0x70000, 0x90000, target(0xa0000)},
                                               {0x40000, 0x42000, target(0xf0000)}}));
}

TEST(CopyChoice, ProtectsTheLongestWhereThereAreTooMany) {
  std::vector<CopyPart> parts;
  for (std::uint64_t i = 0; i < 10; ++i) parts.push_back({i * 0x100000, i * 0x100000 + (i + 1) * 0x1000, nullptr});
  const CopyChoice choice = choose_copy(parts, {{0, 0x1000000}}, {0x1000, 0x1000, 3});
  ASSERT_EQ(choice.later.size(), 3U);
  for (const auto& range : choice.later) EXPECT_GE(range.bytes(), 8U * 0x1000);
  std::uint64_t bytes = 0;
  for (const auto* list : {&choice.now, &choice.later})
    for (const auto& part : *list) bytes += part.bytes();
  EXPECT_EQ(bytes, 55U * 0x1000);
}

}  // namespace
}  // namespace perdure::capture
