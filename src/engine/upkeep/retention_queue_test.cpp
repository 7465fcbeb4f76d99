#include "engine/upkeep/retention_queue.hpp"

#include <gtest/gtest.h>

namespace perdure::engine {
namespace {

using NameSet = std::set<std::string>;

TEST(NamesOfRetention, WaitUntilThisNodeIsResponsible) {
  RetentionQueue queue;
  queue.add("app");
  queue.add_all();
  EXPECT_FALSE(queue.any());
  queue.activate();
  const auto work = queue.take();
  EXPECT_TRUE(work.clean);
  EXPECT_EQ(work.names, NameSet{"app"});
  queue.activate();
  EXPECT_FALSE(queue.any()) << "it was already";
}

TEST(NamesOfRetention, AreTakenOnce) {
  RetentionQueue queue;
  queue.activate();
  (void)queue.take();
  queue.add("a");
  queue.add("b");
  queue.add("a");
  EXPECT_EQ(queue.take().names, (NameSet{"a", "b"}));
  EXPECT_FALSE(queue.any());
  queue.add_all();
  EXPECT_EQ(queue.take().names, (NameSet{"a", "b"}));
}

TEST(NamesOfRetention, ComeAgainLaterAndLater) {
  RetentionQueue queue;
  queue.activate();
  queue.add("app");
  const auto first_ms = queue.delay_ms();
  (void)queue.take();
  queue.again("app");
  EXPECT_FALSE(queue.any());
  EXPECT_TRUE(queue.any_later());
  queue.delay_over();
  EXPECT_EQ(queue.take().names, NameSet{"app"});
  EXPECT_EQ(queue.delay_ms(), 2 * first_ms);
  for (int i = 0; i < 20; ++i) queue.delay_over();
  EXPECT_EQ(queue.delay_ms(), 5000u) << "at most";
  queue.add("app");
  EXPECT_EQ(queue.delay_ms(), first_ms) << "there is news";
}

TEST(NamesOfRetention, AreNotLookedForUntilTheEndOfTime) {
  for (const unsigned most : {RetentionQueue::kMostLooks, RetentionQueue::kMostLooksAtOlder}) {
    RetentionQueue queue;
    queue.activate();
    queue.add("app");
    unsigned looks = 0;
    for (; queue.any() && looks < 1000; ++looks) {
      (void)queue.take();
      queue.again("app", most);
      if (queue.any_later()) queue.delay_over();
    }
    EXPECT_EQ(looks, most + 1) << "the first, and those that follow";
    queue.add("app");
    (void)queue.take();
    queue.again("app", most);
    EXPECT_TRUE(queue.any_later()) << "news of it begin anew";
  }
}

TEST(NamesOfRetention, ThatCameWhileOthersWaitedAreNotForgotten) {
  RetentionQueue queue;
  queue.activate();
  queue.again("late");
  queue.add("app");
  queue.delay_over();
  EXPECT_EQ(queue.take().names, (NameSet{"app", "late"}));
}

}  // namespace
}  // namespace perdure::engine
