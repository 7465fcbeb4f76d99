// A version that is given up: whoever waits for it hears so, once, and it keeps no room.
#include <gmock/gmock.h>

#include <condition_variable>

#include "engine/scripted_group.hpp"

namespace perdure::engine {
namespace {

using FailingGroup = ScriptedGroup;

/// Holds up whoever comes to it, until it is opened.
class Gate {
 public:
  void wait() {
    std::unique_lock guard(mutex_);
    ++waiting_;
    opened_.wait(guard, [this] { return open_; });
  }
  void open() {
    std::lock_guard guard(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  int waiting() {
    std::lock_guard guard(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
  int waiting_ = 0;
};

TEST_F(FailingGroup, WhoWasBeingToldSomethingWhenItFailedHearsThatItFailed) {
  make({"xor", 3, 1, 0}, 1);
  Gate gate;
  script([&](unsigned from, unsigned to, const GroupMessage& message) -> base::Status {
    if (from == 0 && to == 1 && std::holds_alternative<Offer>(message.body)) gate.wait();
    return {};
  });
  commit(first_);
  store(0, first_);
  protect(first_);
  ASSERT_TRUE(await([&] { return gate.waiting() == 1; }));
  nodes_[0]->protector().give_way();
  EXPECT_TRUE(await([&] { return failed(2, first_); }));
  EXPECT_FALSE(failed(1, first_)) << "it is still being told something else";
  gate.open();
  EXPECT_TRUE(await([&] { return failed(1, first_); }));
}

TEST_F(FailingGroup, WhoCouldNotBeToldOfItYetHearsThatItFailedToo) {
  make({"xor", 3, 1, 0}, 1);
  std::atomic<int> tried = 0;
  script([&](unsigned from, unsigned, const GroupMessage& message) -> base::Status {
    if (from != 0 || !std::holds_alternative<Announce>(message.body)) return {};
    ++tried;
    return lost();
  });
  commit(first_);
  store(0, first_);
  nodes_[0]->protector().committed(first_);
  ASSERT_TRUE(await([&] { return tried > 0; }));
  nodes_[1]->protector().committed(first_);
  nodes_[0]->protector().give_way();
  EXPECT_TRUE(await([&] { return failed(1, first_); }));
  EXPECT_FALSE(failed(2, first_)) << "it does not wait for anybody yet";
  nodes_[2]->protector().committed(first_);  // when node 0 has failed already
  EXPECT_TRUE(await([&] { return failed(2, first_); }));
}

}  // namespace
}  // namespace perdure::engine
