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
  const Row possible[] = {
      {State::untouched, Event::take, State::copying}, {State::untouched, Event::lose, State::lost},
      {State::copying, Event::await, State::awaited},  {State::copying, Event::finish, State::copied},
      {State::copying, Event::lose, State::lost},      {State::awaited, Event::await, State::awaited},
      {State::awaited, Event::finish, State::copied},  {State::awaited, Event::lose, State::lost},
      {State::copied, Event::open, State::open},       {State::copied, Event::lose, State::dropped},
      {State::open, Event::lose, State::dropped},      {State::dropped, Event::lose, State::dropped},
      {State::lost, Event::lose, State::lost}};
  std::vector<Row> rows;
  for (const State from :
       {State::untouched, State::copying, State::awaited, State::copied, State::open, State::dropped, State::lost})
    for (const Event event : {Event::take, Event::await, Event::finish, Event::open, Event::lose}) {
      Row row{from, event, std::nullopt};
      for (const Row& one : possible)
        if (one.from == from && one.event == event) row.to = one.to;
      rows.push_back(row);
    }
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

TEST(BlockPlan, IsCutAtMultiplesAndAtTheEndsOfItsRanges) {
  std::vector<std::byte> slot(0x57000);
  const BlockPlan plan({{0x13000, 0x5a000, slot.data()}, {0x60000, 0x70000, slot.data() + 0x47000}}, 0x4000);
  ASSERT_EQ(plan.first_of(1), 19U);
  EXPECT_EQ(plan.until_multiple(0, 0x20000), (BlockRun{0, 4}));
  EXPECT_EQ(plan.until_multiple(4, 0x20000), (BlockRun{4, 8}));
  EXPECT_EQ(plan.until_multiple(12, 0x20000), (BlockRun{12, 7})) << "the range ends there";
  EXPECT_EQ(plan.until_multiple(19, 0x20000), (BlockRun{19, 4}));
  EXPECT_EQ(plan.until_multiple(5, 0x1000), (BlockRun{5, 1})) << "a block is never cut";
}

TEST(BlockPlan, LosesWhatIsNotCopied) {
  BlockPlan plan({{0x10000, 0x40000, nullptr}}, 0x10000);
  ASSERT_TRUE(plan.happens(0, Event::take));
  ASSERT_TRUE(plan.happens(0, Event::finish));
  ASSERT_TRUE(plan.happens(1, Event::take));
  EXPECT_FALSE(plan.lose(0, 0x10000));
  EXPECT_FALSE(plan.lose(0x10000, 0x20000)) << "it was copied before";
  EXPECT_TRUE(plan.lose(0x1f000, 0x21000));
  EXPECT_EQ(plan.state(0), State::dropped) << "nothing is left that could be opened";
  EXPECT_EQ(plan.state(1), State::lost);
  EXPECT_EQ(plan.state(2), State::untouched);
  EXPECT_FALSE(plan.happens(1, Event::finish));
}

constexpr RunLimits kRuns{.rest = 3, .ahead = 5, .most_faulted = 4, .least_opened = 2, .most_opened = 8};

TEST(BlockPlan, TakesTheRestInRunsThatEndWhereSomethingElseBegins) {
  BlockPlan plan({{0, 10 * 0x1000, target(0x1000)}, {0x100000, 0x102000, nullptr}}, 0x1000, kRuns);
  ASSERT_TRUE(plan.happens(5, Event::take));
  EXPECT_EQ(plan.take(0), (BlockRun{0, 3}));
  EXPECT_EQ(plan.take(3), (BlockRun{3, 2}));
  EXPECT_EQ(plan.take(8), (BlockRun{8, 2})) << "the next range is another's memory";
  EXPECT_EQ(plan.part({3, 2}), (CopyPart{0x3000, 0x5000, target(0x4000)}));
  for (const std::size_t number : {0U, 4U, 9U}) EXPECT_EQ(plan.state(number), State::copying);
  EXPECT_EQ(plan.state(7), State::untouched);
}

TEST(BlockPlan, GoesAheadOfWhoWritesOneBlockAfterTheOther) {
  BlockPlan plan({{0, 30 * 0x1000, nullptr}, {0x100000, 0x102000, nullptr}}, 0x1000, kRuns);
  EXPECT_EQ(plan.take_faulted(10), (BlockRun{10, 1}));
  ASSERT_TRUE(plan.happens(12, Event::take));
  EXPECT_EQ(plan.take(2), (BlockRun{11, 1}));
  EXPECT_EQ(plan.take(2), (BlockRun{13, 3}));
  EXPECT_EQ(plan.take(2), (BlockRun{2, 3})) << "five ahead were enough";
  EXPECT_EQ(plan.take_faulted(29), (BlockRun{29, 1}));
  EXPECT_EQ(plan.take(5), (BlockRun{5, 3})) << "the next range is another's memory";
}

TEST(BlockPlan, TakesMoreEachTimeForWhoWritesOneBlockAfterTheOther) {
  BlockPlan plan({{0, 10'000 * 0x1000, nullptr}}, 0x1000, kRuns);  // so many that a few waits are few
  EXPECT_EQ(plan.take_faulted(10), (BlockRun{10, 1}));
  EXPECT_EQ(plan.take_faulted(11), (BlockRun{11, 2}));
  EXPECT_EQ(plan.take(0), (BlockRun{13, 3}));
  EXPECT_EQ(plan.take_faulted(16), (BlockRun{16, 4})) << "who goes ahead has taken what lies between";
  EXPECT_EQ(plan.take_faulted(20), (BlockRun{20, 4})) << "no more than that";
  EXPECT_EQ(plan.take_faulted(80), (BlockRun{80, 1}));
  EXPECT_EQ(plan.take_faulted(79), (BlockRun{79, 1}));
}

TEST(BlockPlan, KnowsForWhichRunsAThreadWaits) {
  BlockPlan plan({{0, 10 * 0x1000, nullptr}}, 0x1000, kRuns);
  ASSERT_EQ(plan.take(0), (BlockRun{0, 3}));
  ASSERT_EQ(plan.take(3), (BlockRun{3, 3}));
  ASSERT_TRUE(plan.happens(5, Event::await));
  EXPECT_FALSE(plan.any({0, 3}, State::awaited));
  EXPECT_FALSE(plan.any({3, 2}, State::awaited));
  EXPECT_TRUE(plan.any({3, 3}, State::awaited));
  plan.happens({3, 3}, Event::finish);
  EXPECT_FALSE(plan.any({3, 3}, State::awaited));
}

TEST(BlockPlan, OpensOnlyWhatIsCopiedAroundAWrite) {
  BlockPlan plan({{0, 40 * 0x1000, nullptr}, {0x100000, 0x102000, nullptr}}, 0x1000, kRuns);
  for (std::size_t number = 4; number < 42; ++number) {
    if (number == 30) continue;
    ASSERT_TRUE(plan.happens(number, Event::take));
    ASSERT_TRUE(plan.happens(number, Event::finish));
  }
  const auto opened = [&](std::size_t number) {
    const BlockRun run = plan.take_copied(number);
    plan.happens(run, Event::open);
    return run;
  };
  EXPECT_EQ(opened(5), (BlockRun{4, 3})) << "what is before it is not copied";
  EXPECT_EQ(opened(7), (BlockRun{7, 6})) << "twice as many as the last time";
  EXPECT_EQ(opened(28), (BlockRun{26, 4})) << "up to one that is not copied";
  EXPECT_EQ(opened(39), (BlockRun{37, 3})) << "the next range is another's memory";
}

TEST(Stride, GrowsWhereSoManyWaitedThatAllIsLikelyToBeWritten) {
  Stride stride(2, 16, 8);
  std::vector<std::size_t> seen;
  for (std::size_t wait = 0; wait < 18; ++wait) {
    seen.push_back(stride.of(1000 * (wait % 2)));  // never behind the last one
    stride.took({1000 * (wait % 2), 1});
  }
  EXPECT_EQ(seen, (std::vector<std::size_t>{2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 8, 8, 16, 16, 16, 16, 16, 16}));
}

TEST(CopyChoice, TakesWholePagesThatCanBeProtectedAndCopiesTheRestAtOnce) {
  const std::vector<CopyPart> parts = {{0x10010, 0x30ff0, target(0x1000)},    // edges on both sides
                                       {0x30ff0, 0x31800, target(0x200)},     // no whole page
                                       {0x50000, 0x60000, target(0x90000)},   // nothing but pages
                                       {0x70000, 0x90000, target(0xa0000)},   // exceeds the protectable memory
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
