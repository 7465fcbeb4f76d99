#include "engine/flush/flush_gate.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "os/system.hpp"
#include "support/eventually.hpp"

namespace perdure::engine {
namespace {

using test_support::eventually;

constexpr std::uint64_t kGateMillisecond = 1'000'000;

class FlushGateTest : public ::testing::Test {
 protected:
  void start(unsigned limit) { gate = std::make_unique<FlushGate>(limit); }
  /// Starts threads that pass the gate `times` times each, and records how many were inside at once.
  void flush(unsigned count, int times) {
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back([this, times] {
        for (int n = 0; n < times; ++n) {
          const auto pass = gate->enter(false, given_up);
          const int now = ++inside;
          for (int most = most_inside; now > most && !most_inside.compare_exchange_weak(most, now);) {
          }
          os::sleep_ns(kGateMillisecond / 10);  // wait: it flushes
          --inside;
          ++passed;
          gate->leave(pass);
        }
      });
  }
  void join() {
    for (auto& thread : threads) thread.join();
    threads.clear();
  }
  void feel(const placement::Pressure& pressure) { gate->see({pressure, false}); }
  FlushGate::Status status() { return gate->status(); }
  unsigned held_back() { return status().held_back; }
  void await_held_back(unsigned count) {
    EXPECT_TRUE(eventually(std::to_string(count) + " are held back", [&] { return held_back() == count; }));
  }
  unsigned waiting_in_all() { return status().waiting; }
  static placement::Pressure budget() { return {0.05, {}, {}, 0, 0, 0}; }
  /// A view in which the application runs twice as slowly while one thread flushes.
  static placement::Pressure too_much(std::uint64_t flushed_steps) { return {0.01, 1.0, 1.0, 1, 100, flushed_steps}; }

  std::unique_ptr<FlushGate> gate;
  std::atomic<bool> given_up = false;
  std::atomic<int> inside = 0, most_inside = 0, passed = 0;
  std::vector<std::thread> threads;
};

TEST_F(FlushGateTest, LetsThroughAsManyAsTheLimitAndNoMore) {
  start(3);
  flush(8, 50);
  join();
  EXPECT_EQ(passed, 400);
  EXPECT_LE(most_inside, 3);
  EXPECT_GE(most_inside, 1);
  EXPECT_EQ(status().inside, 0u);
  EXPECT_EQ(status().held_back, 0u);
}

// The first thread passes before anything is known. Then the budget allows none for at least a minute.
TEST_F(FlushGateTest, HoldsBackWhatTheApplicationFeelsUntilSomebodyWaitsForIt) {
  start(1);
  feel(too_much(100));
  flush(1, 3);
  await_held_back(1);
  EXPECT_LT(passed, 3);
  gate->somebody_waits(true);
  join();
  EXPECT_EQ(passed, 3);
}

TEST_F(FlushGateTest, LetsThroughWhenTheApplicationIsGone) {
  start(1);
  feel(too_much(100));
  flush(1, 3);
  await_held_back(1);
  feel({0.01, {}, {}, 0, 0, 0});
  gate->look_again();
  join();
  EXPECT_EQ(passed, 3);
}

TEST_F(FlushGateTest, KeepsNobodyWhoseFlushWasGivenUp) {
  start(1);
  feel(too_much(100));
  flush(1, 3);
  await_held_back(1);
  given_up = true;
  gate->look_again();
  join();
  EXPECT_EQ(passed, 3);
}

TEST_F(FlushGateTest, KeepsNobodyAfterItWasShut) {
  start(1);
  feel(too_much(100));
  flush(4, 3);
  EXPECT_TRUE(eventually("four wait", [this] { return waiting_in_all() == 4; }));
  gate->shut();
  join();
  EXPECT_EQ(passed, 12);
}

// Fills the gate with readers, then counts how many more threads get in beside them.
class FlushGateOfReaders : public FlushGateTest {
 protected:
  void read(unsigned count) {
    for (unsigned i = 0; i < count; ++i) readers.push_back(gate->enter(true, given_up));
  }
  /// No other thread changes the gate, so a thread that does not get in now never does.
  unsigned enter_more(bool reading) {
    std::atomic<unsigned> entered = 0;
    std::vector<FlushGate::Pass> passes(kMore);
    std::vector<std::thread> more;
    for (unsigned i = 0; i < kMore; ++i)
      more.emplace_back([&, i] {
        passes[i] = gate->enter(reading, given_up);
        if (!given_up) ++entered;
      });
    EXPECT_TRUE(eventually("each has got in, or waits", [this] {
      const auto now = status();
      return now.inside - readers.size() + now.waiting == kMore;
    }));
    const unsigned got_in = entered;
    given_up = true;
    gate->look_again();
    for (auto& thread : more) thread.join();
    for (const auto& pass : passes) gate->leave(pass);
    given_up = false;
    return got_in;
  }
  static constexpr unsigned kMore = 24;
  std::vector<FlushGate::Pass> readers;
};

TEST_F(FlushGateOfReaders, AsManyAgainWriteToTheStore) {
  start(8);
  read(8);
  EXPECT_EQ(enter_more(false), 8u);
  EXPECT_EQ(enter_more(true), 0u);
}

TEST_F(FlushGateOfReaders, FewMoreWhileSlotsAreWanted) {
  start(8);
  gate->see({{}, true});
  read(4);
  EXPECT_EQ(enter_more(true), 4u);
  EXPECT_EQ(enter_more(false), 5u) << "8 in all, and one";
}

TEST_F(FlushGateOfReaders, NoMoreThanTheLimitWhereTheApplicationHasABudget) {
  start(8);
  feel(budget());
  read(3);
  EXPECT_EQ(enter_more(false), 5u);
}

// One thread is as fast as two. Reading took time, as from a tier that is not mapped.
TEST_F(FlushGateOfReaders, ThreadsThatBringNothingGoAlsoWhereMuchTimeIsSpentOnReading) {
  const auto allowed_after = [this](double two_stored, double one_stored, const placement::Pressure& pressure) {
    start(2);
    feel(pressure);
    for (int i = 0; i < 6; ++i) gate->observe({2, two_stored, 100});
    for (int i = 0; i < 5; ++i) gate->observe({1, one_stored, 100});
    for (int i = 0; i < 6; ++i) gate->observe({2, two_stored, 100});  // the pool checks whether two are really as fast
    return enter_more(false);
  };
  EXPECT_EQ(allowed_after(0.2, 0.1, {}), 1u) << "all the time, so that as many read as may";
  EXPECT_EQ(allowed_after(1.2, 0.6, budget()), 1u) << "who reads counts as a thread, too";
}

TEST_F(FlushGateOfReaders, WhoHasReadWaitsForWhoWrites) {
  start(1);
  read(1);
  const auto writer = gate->enter(false, given_up);
  std::atomic<bool> stored = false;
  std::thread waits([&] {
    gate->stores(readers[0], given_up);
    stored = true;
  });
  EXPECT_TRUE(eventually("it waits", [this] { return waiting_in_all() > 0; }));
  EXPECT_FALSE(stored);
  gate->leave(writer);
  waits.join();
  EXPECT_FALSE(readers[0].reading);
  gate->reads(readers[0]);
  const auto next = gate->enter(false, given_up);
  EXPECT_FALSE(next.reading) << "it reads again";
  gate->leave(next);
  gate->leave(readers[0]);
  EXPECT_EQ(status().inside, 0u);
}

}  // namespace
}  // namespace perdure::engine
