// How many messages the positions of a group need: each is a turn of two engines, for as little as it says.
#include <gmock/gmock.h>

#include "engine/replicate/scripted_group_testing.hpp"

namespace perdure::engine {
namespace {

using testing::ElementsAre;

class CountedGroup : public ScriptedGroup {
 protected:
  void count() {
    script([this](unsigned from, unsigned to, const GroupMessage& message) -> base::Status {
      const auto* announce = std::get_if<Announce>(&message.body);
      const char* kinds[] = {"announce", "offer", "keeps", "stored", "gives up"};
      std::lock_guard guard(said_mutex_);
      said_[{from, to}].push_back(kinds[message.body.index()] +
                                  (announce == nullptr ? "" : " " + std::to_string(announce->blocks.size())));
      return {};
    });
  }
  std::mutex said_mutex_;
  std::map<std::pair<unsigned, unsigned>, std::vector<std::string>> said_;
};

TEST_F(CountedGroup, WhatIsCommittedIsAnnouncedWithItsBlocks) {
  make({"xor", 3, 1, 0}, 1);
  count();
  commit(first_, 2);
  protect(first_);
  ASSERT_TRUE(wait_reached(first_));
  std::lock_guard guard(said_mutex_);
  EXPECT_EQ(said_.size(), 6U);
  for (const auto& [pair, messages] : said_) EXPECT_THAT(messages, ElementsAre("announce 2", "keeps"));
}

}  // namespace
}  // namespace perdure::engine
