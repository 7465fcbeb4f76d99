// Counts the messages that the positions of a group need: each costs a turn of two engines, however little it says.
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

/// Position 0 waits for none of its messages. They arrive, and their answers come, when the test says so.
class UnhurriedGroup : public GroupFixtureBase {
 protected:
  struct Message {
    unsigned to = 0;
    std::vector<std::byte> bytes;
    std::function<void(base::Status)> told;
  };
  std::shared_ptr<GroupLink> link(unsigned position) override {
    if (position != 0) return std::make_shared<DirectLink>(nodes_);
    return std::make_shared<Link>(*this);
  }
  Message next() {
    auto sent = sent_.lock();
    if (!sent.wait_for(changed_, std::chrono::seconds(60), [&] { return !sent->empty(); })) return {};
    Message first = std::move(sent->front());
    sent->erase(sent->begin());
    return first;
  }
  bool any() {
    const auto sent = sent_.lock();
    return !sent->empty();
  }
  void deliver(const Message& message) { message.told(nodes_[message.to]->replicator().receive(message.bytes)); }
  void commit() {
    for (unsigned p = 0; p < 2; ++p) nodes_[p]->checkpoint(first_, {2}, p, 2, random_);
    for (auto& node : nodes_) node->replicator().committed(first_);
  }

 private:
  class Link final : public DirectLink {
   public:
    explicit Link(UnhurriedGroup& group) : DirectLink(group.nodes_), group_(group) {}
    bool begin_send(unsigned position, base::ConstByteSpan bytes, std::function<void(base::Status)> told) override {
      auto sent = group_.sent_.lock();
      sent->push_back({position, {bytes.begin(), bytes.end()}, std::move(told)});
      group_.changed_.notify_all();
      return true;
    }

   private:
    UnhurriedGroup& group_;
  };
  base::Guarded<std::vector<Message>> sent_;
  std::condition_variable changed_;
};

TEST_F(UnhurriedGroup, OneMessageAfterTheOtherAndNoThreadWaits) {
  make({"xor", 2, 1, 0}, 1);
  commit();
  const Message announce = next();
  ASSERT_TRUE(announce.told);
  ASSERT_TRUE(quiescent());
  EXPECT_FALSE(any()) << "before it is known that the first has arrived";
  EXPECT_EQ(nodes_[0]->replicator().under_way(), 1U);
  deliver(announce);
  const Message keeps = next();
  ASSERT_TRUE(keeps.told);
  EXPECT_FALSE(nodes_[1]->replicator().state(first_).reached);
  deliver(keeps);
  EXPECT_TRUE(wait_reached(first_));
}

TEST_F(UnhurriedGroup, WhatBecameOfAMessageIsNotTakenForThatOfALaterRound) {
  make({"xor", 2, 1, 0}, 1);
  commit();
  const Message of_the_first = next();
  ASSERT_TRUE(of_the_first.told);
  nodes_[0]->replicator().superseded(first_.name, first_.attempt.created_ns + 1, {});
  nodes_[0]->replicator().committed(first_);
  const Message announce = next();
  ASSERT_TRUE(announce.told);
  of_the_first.told(base::fail(PERDURE_MISMATCH, "message", "it is of another group"));
  EXPECT_FALSE(nodes_[0]->replicator().state(first_).failed);
  EXPECT_EQ(nodes_[0]->replicator().under_way(), 1U);
}

TEST_F(UnhurriedGroup, WhatComesBackWhenTheNodeIsGoneIsNobodys) {
  make({"xor", 2, 1, 0}, 1);
  commit();
  const Message announce = next();
  ASSERT_TRUE(announce.told);
  for (auto& node : nodes_) node->end();
  nodes_.clear();
  announce.told({});
}

}  // namespace
}  // namespace perdure::engine
