#pragma once
// Queues the jobs of the replicator's threads in the order of execution. Not thread-safe: the replicator's mutex guards
// it.
#include <functional>
#include <map>
#include <optional>

#include "segment/manifest.hpp"

namespace perdure::engine {

class ReplicationJobs {
 public:
  /// Publishing comes first. Then come newer versions: once one is at level node, the older ones do not matter any
  /// more. Then come messages, which others wait for. Drops at the parity server run one at a time, when no other job
  /// can. Orders wait for them: a drop makes room, and may have the same name.
  enum class Kind : std::uint8_t { publish, send, work, order, drop };
  struct Job {
    Kind kind = Kind::work;
    std::function<void()> run;
  };
  void add(Kind kind, const segment::Attempt& attempt, std::function<void()> run) {
    waiting_.emplace(Rank{kind == Kind::publish || kind == Kind::drop ? segment::Attempt{} : attempt, kind, next_++},
                     std::move(run));
    if (kind == Kind::drop) ++drops_;
  }
  /// The kind of thread: the one that asks parity servers, one that does all other jobs, or one that does all.
  enum class For : std::uint8_t { all, server, all_else };
  /// Returns a job, which is running until done(); nullopt if none can run now.
  std::optional<Job> next(For who) {
    for (auto it = waiting_.begin(); it != waiting_.end(); ++it) {
      const Kind kind = it->first.kind;
      if (who != For::all && is_for_server(kind) != (who == For::server)) continue;
      if ((kind == Kind::order && drops_ > 0) || (kind == Kind::drop && dropping_)) continue;
      dropping_ = dropping_ || kind == Kind::drop;
      Job job{kind, std::move(it->second)};
      waiting_.erase(it);
      return job;
    }
    return std::nullopt;
  }
  void done(Kind kind) {
    if (kind != Kind::drop) return;
    dropping_ = false;
    --drops_;
  }
  /// Counts the jobs for these threads, including those that cannot run yet.
  std::size_t waiting(For who) const {
    if (who == For::all) return waiting_.size();
    std::size_t count = 0;
    for (const auto& [rank, run] : waiting_)
      if (is_for_server(rank.kind) == (who == For::server)) ++count;
    return count;
  }
  std::size_t drops() const { return drops_; }  ///< that wait or run

 private:
  static bool is_for_server(Kind kind) { return kind == Kind::order || kind == Kind::drop; }
  struct Rank {
    segment::Attempt attempt;
    Kind kind = Kind::work;
    std::uint64_t number = 0;
    friend bool operator<(const Rank& a, const Rank& b) {
      const auto turn = [](Kind kind) { return kind == Kind::publish ? 0 : kind == Kind::drop ? 2 : 1; };
      if (turn(a.kind) != turn(b.kind)) return turn(a.kind) < turn(b.kind);
      if (a.attempt != b.attempt) return a.attempt > b.attempt;
      return a.kind != b.kind ? a.kind < b.kind : a.number < b.number;
    }
  };
  std::map<Rank, std::function<void()>> waiting_;
  std::uint64_t next_ = 0;
  std::size_t drops_ = 0;
  bool dropping_ = false;
};

}  // namespace perdure::engine
