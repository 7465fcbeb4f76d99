#pragma once
// For tests: runs a group whose messages a test can follow, hold up and lose, one by one.
#include <atomic>
#include <condition_variable>
#include <functional>

#include "engine/replicate/group_testing.hpp"

namespace perdure::engine {

/// Holds up every thread that comes to it, until it is opened.
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

class ScriptedGroup : public GroupFixtureBase {
 protected:
  /// Called before a message arrives. If it returns an error, the message is lost, and its sender gets the error.
  using Script = std::function<base::Status(unsigned from, unsigned to, const GroupMessage& message)>;

  std::shared_ptr<GroupLink> link(unsigned position) override { return std::make_shared<Link>(*this, position); }
  void script(Script next) {
    std::lock_guard guard(script_mutex_);
    script_ = std::move(next);
  }
  bool has_announced(unsigned from, unsigned to) {
    std::lock_guard guard(script_mutex_);
    return announced_.contains({from, to});
  }
  /// Returns how many withdrawals of `from` have arrived at `to`.
  std::size_t withdrawals(unsigned from, unsigned to) {
    std::lock_guard guard(script_mutex_);
    return withdrawals_[{from, to}];
  }
  void TearDown() override {
    gate_.open();
    GroupFixtureBase::TearDown();
  }
  /// Loses the Keeps messages of `from` to `to`, so that neither reaches the level.
  void stop_keeps(unsigned from, unsigned to) {
    script([from, to](unsigned sender, unsigned receiver, const GroupMessage& message) -> base::Status {
      const bool stopped = sender == from && receiver == to && std::holds_alternative<Keeps>(message.body);
      return stopped ? lost() : base::Status();
    });
  }
  static base::Status lost() { return base::fail(PERDURE_TIMEOUT, "message", "it got lost", {}, true); }
  bool failed(unsigned position, const segment::VersionId& id) {
    return nodes_[position]->replicator().state(id).failed.has_value();
  }
  /// Commits one rank a node, with so many chunks; no node begins to replicate it.
  void commit(const segment::VersionId& id, std::uint64_t chunks = 2) {
    const auto n = static_cast<unsigned>(nodes_.size());
    for (unsigned p = 0; p < n; ++p) nodes_[p]->checkpoint(id, {chunks}, p, n, random_);
  }
  void protect(const segment::VersionId& id) {
    for (auto& node : nodes_) node->replicator().committed(id);
  }
  /// Acts as the flusher does when the node's segment is in the store.
  void store(unsigned position, const segment::VersionId& id) {
    {
      const auto guard = nodes_[position]->lock();
      ASSERT_TRUE(nodes_[position]->core().flushes.segment_stored(id, 0));
      nodes_[position]->core().flushes.succeeded(id, kChunk, 1);
    }
    nodes_[position]->replicator().stored(id);
  }
  bool recorded(unsigned position, const segment::VersionId& id, std::uint64_t epoch = 7) {
    const auto guard = nodes_[position]->lock();
    return nodes_[position]->core().redundancy.find(catalog::RedundancyId{id, epoch}) != nullptr;
  }

  // For scripts, which may be called until the nodes have ended.
  Gate gate_;
  std::atomic<int> noticed_ = 0;

 private:
  class Link final : public DirectLink {
   public:
    Link(ScriptedGroup& group, unsigned from) : DirectLink(group.nodes_), group_(group), from_(from) {}
    base::Status send(unsigned position, base::ConstByteSpan bytes) override {
      PERDURE_TRY(const auto message, decode_group_message(bytes));
      PERDURE_CHECK(group_.ask(from_, position, message));
      const base::Status heard = DirectLink::send(position, bytes);
      if (heard) group_.note(from_, position, message);
      return heard;
    }

   private:
    ScriptedGroup& group_;
    unsigned from_;
  };
  base::Status ask(unsigned from, unsigned to, const GroupMessage& message) {
    Script now;
    {
      std::lock_guard guard(script_mutex_);
      now = script_;
    }
    return now ? now(from, to, message) : base::Status();
  }
  void note(unsigned from, unsigned to, const GroupMessage& message) {
    std::lock_guard guard(script_mutex_);
    if (std::holds_alternative<Announce>(message.body)) announced_.insert({from, to});
    if (std::holds_alternative<Withdraw>(message.body)) ++withdrawals_[{from, to}];
  }

  std::mutex script_mutex_;
  Script script_;
  std::set<std::pair<unsigned, unsigned>> announced_;
  std::map<std::pair<unsigned, unsigned>, std::size_t> withdrawals_;
};

}  // namespace perdure::engine
