#include "placement/producer_queue.hpp"

#include <gtest/gtest.h>

#include <map>

#include "placement/flush_order.hpp"
#include "placement/registry.hpp"
#include "placement/views_testing.hpp"

namespace perdure::placement {
namespace {

TEST(ProducerQueue, ServesInOrderOfArrivalAndHoldsEachProducerOnce) {
  ProducerQueue queue;
  EXPECT_EQ(queue.head(), std::nullopt);
  queue.served();
  for (Producer p : {3U, 1U, 2U}) EXPECT_TRUE(queue.enqueue(p));
  EXPECT_FALSE(queue.enqueue(1));
  EXPECT_EQ(queue.position(2), 2u);
  EXPECT_EQ(queue.position(9), std::nullopt);
  EXPECT_TRUE(queue.enqueue_first(7));
  EXPECT_TRUE(queue.remove(3));
  EXPECT_FALSE(queue.remove(3));
  for (Producer p : {7U, 1U, 2U}) {
    EXPECT_EQ(queue.head(), p);
    queue.served();
  }
  EXPECT_TRUE(queue.empty());
}

/// A node without time: any write or flush that is under way may end next. Random schedules have tiers that fail and
/// come back, writes that fail, and producers that die holding a slot or waiting.
class RandomSchedule {
 public:
  RandomSchedule(std::uint64_t seed, const Policy& policy) : random_(seed), policy_(policy) {
    const std::size_t tiers = 1 + below(4), producers = 1 + below(24);
    for (std::size_t i = 0; i < tiers; ++i) {
      const std::uint64_t slots = 1 + below(6);
      tiers_.push_back({slots, slots, 0, 0, 0, 0, false, i % 2 == 0 ? &kMemory : &kSsd});
    }
    for (Producer p = 0; p < producers; ++p) {
      left_[p] = 1 + below(8);
      expected_ += left_[p];
      queue_.enqueue(p);
    }
  }

  void run() {
    const std::uint64_t limit = 200 * (expected_ + 10);
    for (std::uint64_t step = 0; stored_ + lost_ < expected_; ++step) {
      ASSERT_LT(step, limit) << "no end in sight";
      if (below(12) == 0) tiers_[below(tiers_.size())].failed ^= true;
      if (below(60) == 0) kill(below(left_.size()));
      assign();
      if (testing::Test::HasFatalFailure()) return;
      finish_something();
      if (testing::Test::HasFatalFailure()) return;
    }
    EXPECT_EQ(stored_ + lost_, expected_);
    EXPECT_TRUE(queue_.empty());
    for (const auto& tier : tiers_) EXPECT_EQ(tier.free_slots, tier.slots);
  }

 private:
  struct Job {
    Producer producer;
    std::size_t tier;
  };
  std::uint64_t below(std::uint64_t n) { return random_() % n; }

  void assign() {
    while (const auto head = queue_.head()) {
      for (auto& tier : tiers_) tier.slots_to_come = tier.chunks_unflushed;
      const auto d = policy_.decide({tiers_, {2e9, 1e8}, {queue_.size(), queue_.size()}, 1'000'000});
      if (!d.tier) {
        ASSERT_TRUE(is_wait(d.reason));
        ASSERT_FALSE(writes_.empty() && flushes_.empty()) << "waits for nothing";
        return;
      }
      for (const auto& [other, turn] : turn_) ASSERT_GE(turn, turn_[*head]) << other << " is overtaken";
      queue_.served();
      turn_.erase(*head);
      TierState& tier = tiers_[*d.tier];
      ASSERT_GT(tier.free_slots, 0u);
      --tier.free_slots;
      ++tier.writers;
      ++tier.chunks_unflushed;
      writes_.push_back({*head, *d.tier});
    }
  }

  void finish_something() {
    if (stored_ + lost_ == expected_) return;  // the last one was killed
    ASSERT_FALSE(writes_.empty() && flushes_.empty()) << "deadlock";
    const std::size_t choice = below(writes_.size() + flushes_.size());
    if (choice >= writes_.size()) {
      const Job job = take(flushes_, choice - writes_.size());
      free_slot(job.tier);
      ++stored_;
      return;
    }
    const Job job = take(writes_, choice);
    --tiers_[job.tier].writers;
    if (tiers_[job.tier].failed && below(2) == 0) {  // the write failed: its turn again
      free_slot(job.tier);
      queue_.enqueue_first(job.producer);
      turn_[job.producer] = 0;
      return;
    }
    flushes_.push_back(job);
    if (--left_[job.producer] == 0) return;
    queue_.enqueue(job.producer);
    turn_[job.producer] = ++turns_;
  }

  void kill(Producer p) {
    lost_ += left_[p];
    left_[p] = 0;
    turn_.erase(p);
    queue_.remove(p);
    for (std::size_t i = writes_.size(); i-- > 0;) {
      if (writes_[i].producer != p) continue;
      --tiers_[writes_[i].tier].writers;
      free_slot(take(writes_, i).tier);
    }
  }

  void free_slot(std::size_t tier) {
    ++tiers_[tier].free_slots;
    --tiers_[tier].chunks_unflushed;
  }
  static Job take(std::vector<Job>& jobs, std::size_t i) {
    const Job job = jobs[i];
    jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(i));
    return job;
  }

  std::mt19937_64 random_;
  const Policy& policy_;
  std::vector<TierState> tiers_;
  ProducerQueue queue_;
  std::vector<Job> writes_, flushes_;
  std::map<Producer, std::uint64_t> left_, turn_;  // turn_: the waiting producers' order of arrival
  std::uint64_t expected_ = 0, stored_ = 0, lost_ = 0, turns_ = 0;
};

class Schedules : public testing::TestWithParam<Policy> {};
INSTANTIATE_TEST_SUITE_P(Policies, Schedules, testing::ValuesIn(policies()), [](const auto& policy) {
  std::string name = policy.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(Schedules, NobodyStarvesNothingDeadlocksAndNoChunkIsLostUnderAnySchedule) {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomSchedule(seed, GetParam()).run();
    if (HasFailure()) return;
  }
}

TEST(FlushOrder, FreesTheFirstTierWhileProducersWait) {
  EXPECT_EQ(next_to_flush(std::vector<FlushQueue>{{3, 9, 20e9}, {100, 0, 1e8}}, true, 8), 0u);
  EXPECT_EQ(next_to_flush(std::vector<FlushQueue>{{0, 9, 20e9}, {100, 0, 1e8}}, true, 8), 1u);
}

TEST(FlushOrder, OtherwiseStartsWithWhatTakesLongestButLeavesThreadsForTheRest) {
  EXPECT_EQ(next_to_flush(std::vector<FlushQueue>{{30, 0, 20e9}, {5, 0, 1e8}}, false, 8), 1u);
  EXPECT_EQ(next_to_flush(std::vector<FlushQueue>{{30, 0, 20e9}, {5, 7, 1e8}}, false, 8), 0u);
  EXPECT_EQ(next_to_flush(std::vector<FlushQueue>{{0, 0, 20e9}, {5, 7, 1e8}}, false, 8), 1u);
  EXPECT_EQ(next_to_flush(std::vector<FlushQueue>{{1, 0, 0}, {5, 0, 1e8}}, false, 1), 0u) << "unknown: might be slow";
  EXPECT_EQ(next_to_flush(std::vector<FlushQueue>{{0, 1, 1}, {0, 0, 1}}, false, 1), std::nullopt);
}

TEST(FlushOrder, FewReadAheadWhileSlotsAreWantedAndAsManyAgainOtherwise) {
  EXPECT_EQ(most_under_way(16, true), 18u);
  EXPECT_EQ(most_under_way(16, false), 32u);
  EXPECT_EQ(most_under_way(2, true), 3u);
  EXPECT_EQ(most_under_way(1, false), 2u);
}

}  // namespace
}  // namespace perdure::placement
