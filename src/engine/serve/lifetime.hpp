#pragma once
// Decides when an engine may end: a client asked for it, or it was idle for long enough, and no work is left.
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "engine/ledger/ledger.hpp"

namespace perdure::engine {

class Flusher;
class Janitor;
class NodeGroup;
class Pipeline;

/// Which clients are connected.
struct Presence {
  bool ranks = false;
  bool strangers = false;  ///< clients that have not sent Hello, and may be ranks
};

class Lifetime {
 public:
  Lifetime(Ledger& ledger, Flusher& flusher, Janitor& janitor, Pipeline& pipeline, NodeGroup* group,
           std::uint64_t idle_exit_ns);
  /// A client asked for the end. Repeatable.
  void shut_down();
  bool shutting_down() const { return draining_since_ns_ != 0; }
  /// The idle time begins again.
  void rank_left();
  /// Returns when the engine may have to end; 0: not before another event.
  std::uint64_t end_at_ns(Presence presence);
  /// Ends the engine if that is due.
  void finish_if_idle(Presence presence);
  /// Any thread may call these two.
  void end();
  void wait_until_over();

 private:
  bool quiet(Presence presence);
  bool group_quiet();
  bool patient() const;

  Ledger& ledger_;
  Flusher& flusher_;
  Janitor& janitor_;
  Pipeline& pipeline_;
  NodeGroup* group_;
  std::uint64_t idle_exit_ns_;
  std::uint64_t only_group_since_ns_ = 0;  // since when no other work is under way; 0: there is some
  std::uint64_t idle_since_ns_;
  std::uint64_t draining_since_ns_ = 0;  // 0: nobody asked for shutdown
  bool told_over_ = false;
  std::mutex over_mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
};

}  // namespace perdure::engine
