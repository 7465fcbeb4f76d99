// A version that is given up: whoever waits for it hears so, once, and it keeps no room.
#include <gmock/gmock.h>

#include "engine/scripted_group.hpp"

namespace perdure::engine {
namespace {

using FailingGroup = ScriptedGroup;

TEST_F(FailingGroup, WhoWasBeingToldSomethingWhenItFailedHearsThatItFailed) {
  make({"xor", 3, 1, 0}, 1);
  script([this](unsigned from, unsigned to, const GroupMessage& message) -> base::Status {
    if (from == 0 && to == 1 && std::holds_alternative<Offer>(message.body)) gate_.wait();
    return {};
  });
  commit(first_);
  store(0, first_);
  protect(first_);
  ASSERT_TRUE(await([&] { return gate_.waiting() == 1; }));
  nodes_[0]->protector().give_way();
  EXPECT_TRUE(await([&] { return failed(2, first_); }));
  EXPECT_FALSE(failed(1, first_)) << "it is still being told something else";
  gate_.open();
  EXPECT_TRUE(await([&] { return failed(1, first_); }));
}

TEST_F(FailingGroup, WhoCouldNotBeToldOfItYetHearsThatItFailedToo) {
  make({"xor", 3, 1, 0}, 1);
  script([this](unsigned from, unsigned, const GroupMessage& message) -> base::Status {
    if (from != 0 || !std::holds_alternative<Announce>(message.body)) return {};
    ++noticed_;
    return lost();
  });
  commit(first_);
  store(0, first_);
  nodes_[0]->protector().committed(first_);
  ASSERT_TRUE(await([&] { return noticed_ > 0; }));
  nodes_[1]->protector().committed(first_);
  nodes_[0]->protector().give_way();
  EXPECT_TRUE(await([&] { return failed(1, first_); }));
  EXPECT_FALSE(failed(2, first_)) << "it does not wait for anybody yet";
  nodes_[2]->protector().committed(first_);  // when node 0 has failed already
  EXPECT_TRUE(await([&] { return failed(2, first_); }));
}

}  // namespace
}  // namespace perdure::engine
