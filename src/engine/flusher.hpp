#pragma once
// The thread that brings committed versions to the store, in commit order, retrying what can be retried.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "engine/core.hpp"
#include "engine/segment_flush.hpp"
#include "plan/backoff.hpp"

namespace perdure::engine {

struct FlusherOptions {
  unsigned threads = 2;
  std::uint64_t max_bytes_per_s = 0;
  plan::Backoff backoff;
  std::uint64_t keep_in_tiers = 2;  ///< stored versions of a name that stay in tiers as a cache
};

class Flusher {
 public:
  /// `lock` guards `core`. `changed(id, stored)` is called without the lock after every attempt, and `idle()` when
  /// nothing is left to flush and every `changed` has returned.
  Flusher(
      Core& core, std::mutex& lock, store::Store& store, Reports& reports, FlusherOptions options,
      std::function<void(const segment::VersionId&, bool stored)> changed, std::function<void()> idle = [] {});
  ~Flusher() { stop(); }
  void notify();  ///< there may be something to flush
  /// No attempt is under way whose end others still have to hear of: what was stored may be all there is, and yet
  /// retention not know of it.
  bool idle() const { return !busy_; }
  void stop();  ///< ends the flush in flight at its next block; returns when the thread has ended

 private:
  void run();
  void flush_one(const segment::VersionId& id);
  FlushOutcome attempt(const segment::VersionId& id);
  void finish(const segment::VersionId& id, const FlushOutcome& outcome, double seconds);
  void succeeded(const segment::VersionId& id, const FlushOutcome& outcome, double seconds);
  void chunk_damaged(const segment::VersionId& id, const FlushOutcome& outcome);
  void store_failed(const segment::VersionId& id, const base::Error& error);
  void report(const segment::VersionId& id, const base::Error& error, bool retried);
  void wait_before_retry(std::uint64_t delay_ns);

  Core& core_;
  std::mutex& lock_;
  store::Store& store_;
  Reports& reports_;
  FlusherOptions options_;
  std::function<void(const segment::VersionId&, bool)> changed_;
  std::function<void()> idle_;
  tier::SlotIo slots_;
  std::condition_variable wake_;
  bool work_ = true;
  std::atomic<bool> busy_ = false;
  std::atomic<bool> stopping_ = false;
  bool prepared_ = false;  // the store was there once: when it is missing later, it vanished and is waited for
  unsigned failures_ = 0;  // in a row: an episode
  std::uint64_t failing_since_ns_ = 0;
  std::set<base::ErrorCode> told_;  // what the episode was reported for
  bool told_given_up_ = false;
  std::thread thread_;
};

}  // namespace perdure::engine
