#include "rewritten.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace perdure::bench {
namespace {

constexpr std::size_t kPages = 100;

TEST(Rewritten, DrawsEachPageOnceInBothOrders) {
  for (const Order order : {Order::sequential, Order::random})
    for (const double fraction : {0.01, 0.1, 1.0}) {
      const auto pages = draw_pages(kPages, fraction, order, 7);
      EXPECT_EQ(pages.size(), static_cast<std::size_t>(fraction * kPages));
      EXPECT_EQ(std::set<std::uint32_t>(pages.begin(), pages.end()).size(), pages.size());
      EXPECT_LT(*std::max_element(pages.begin(), pages.end()), kPages);
    }
  const auto run = draw_pages(kPages, 0.1, Order::sequential, 7);
  EXPECT_EQ(run.back(), run.front() + 9);
  EXPECT_NE(draw_pages(kPages, 1, Order::random, 7), draw_pages(kPages, 1, Order::random, 8));
}

TEST(Rewritten, AlwaysRewritesAtLeastOnePage) { EXPECT_EQ(draw_pages(3, 0.01, Order::random, 1).size(), 1U); }

TEST(Rewritten, TellsWhatItHeldBeforeItWasRewritten) {
  Rewritten memory(kPages * Rewritten::kPageBytes);
  const auto then = memory.generations();
  std::vector<std::byte> copy(memory.memory().begin(), memory.memory().end());
  memory.rewrite({3, 99});
  EXPECT_EQ(Rewritten::difference(copy, then), "");
  EXPECT_EQ(Rewritten::difference(memory.memory(), memory.generations()), "");
  EXPECT_EQ(Rewritten::difference(memory.memory(), then), "page 3 differs from its content at the call from byte 0 on");
}

TEST(Rewritten, NoticesASingleByteThatIsLaterThanTheCall) {
  Rewritten memory(kPages * Rewritten::kPageBytes);
  const auto then = memory.generations();
  memory.memory().back() ^= std::byte{1};
  EXPECT_EQ(Rewritten::difference(memory.memory(), then),
            "page 99 differs from its content at the call from byte 4088 on");
}

}  // namespace
}  // namespace perdure::bench
