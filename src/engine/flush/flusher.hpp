#pragma once
// Brings versions to the store: one thread the committed ones, in commit order, and one thread each those that are
// flushed while they are captured. What can be retried is.
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <set>
#include <thread>

#include "engine/flush/flush_gate.hpp"
#include "engine/flush/segment_flush.hpp"
#include "engine/ledger/ledger.hpp"
#include "plan/backoff.hpp"

namespace perdure::engine {

struct FlusherOptions {
  unsigned threads = 2;
  std::uint64_t max_bytes_per_s = 0;
  double max_slowdown = 0;  ///< of the application while a flush runs, as a fraction; 0: no limit
  plan::Backoff backoff;
  /// Called when a slot that producers wait for can be used again before its version is stored: the store is resumable.
  /// Empty: slots become free with their version.
  std::function<void()> room = {};
  std::uint64_t keep_in_tiers = 2;  ///< stored versions of a name that stay in tiers as a cache
};

class Flusher {
 public:
  /// `changed(id, stored)` is called without the lock after every attempt, and `idle()` when nothing is left to flush
  /// and every `changed` has returned.
  Flusher(
      Ledger& ledger, store::Store& store, Reports& reports, FlusherOptions options,
      std::function<void(const segment::VersionId&, bool stored)> changed, std::function<void()> idle = [] {});
  ~Flusher() { stop(); }
  void notify();  ///< there may be something to flush
  /// Something changed in an open capture.
  void reevaluate_captures();
  /// True when no flush runs and everyone has heard of the end of the last, so that retention knows all that was
  /// stored.
  bool idle() const { return working_ == 0; }
  /// Somebody waits for what is flushed. Cheap when that is no news.
  void somebody_waits(bool waits);
  /// What is known of the application changed.
  void look_at_application();
  FlushGate::Status gate_status(const Ledger::Access& ledger) const { return gate_.status(ledger); }
  void stop();  ///< ends the flushes in flight at their next block; returns when all threads have ended

 private:
  struct Early {
    std::atomic<bool> over = false;
    std::thread thread;
  };
  enum class Next { done, again, given_up };

  void run();
  void run_write_through(const segment::VersionId& id, Early& self);
  std::optional<base::Error> flush_write_through(const segment::VersionId& id);
  FlushOutcome attempt(const segment::VersionId& id, bool early, bool& busy);
  void pace(std::uint64_t begun_ns, std::uint64_t bytes);
  void wake_all();
  FlushJob job_for(NodeState& state, const segment::VersionId& id, catalog::HeldVersion version);
  CaptureNews await_news(const segment::VersionId& id, std::size_t& seen, bool& busy, const std::atomic<bool>& failed);
  base::Status await_turn(const segment::VersionId& id);
  void clean_leftovers();
  void works(bool& busy);
  void rests(bool& busy);
  Next finish(const segment::VersionId& id, const FlushOutcome& outcome, double seconds, bool& busy);
  void succeeded(const segment::VersionId& id, const FlushOutcome& outcome, double seconds);
  void chunk_damaged(const segment::VersionId& id, const FlushOutcome& outcome);
  std::optional<std::uint64_t> store_failed(const segment::VersionId& id, const base::Error& error);
  void report(const segment::VersionId& id, const base::Error& error, bool retried);
  void wait_before_retry(std::uint64_t delay_ns, bool& busy);

  Ledger& ledger_;
  store::Store& store_;
  Reports& reports_;
  FlusherOptions options_;
  std::function<void(const segment::VersionId&, bool)> changed_;
  std::function<void()> idle_;
  tier::SlotIo slots_;
  FlushGate gate_;
  std::mutex pacing_mutex_;
  plan::Pacing pacing_;
  std::condition_variable wake_;
  std::condition_variable news_;  // of captures
  std::atomic<bool> work_ = true;
  std::atomic<unsigned> working_ = 0;  // threads with an attempt under way, or whose end is being told
  std::atomic<bool> stopping_ = false;
  std::atomic<bool> prepared_ = false;  // the store was there once: when it is missing later, it is waited for
  std::mutex episode_;                  // of the next four
  unsigned failures_ = 0;               // in a row: an episode
  std::uint64_t failing_since_ns_ = 0;
  std::set<base::ErrorCode> told_;  // what the episode was reported for
  bool told_given_up_ = false;
  base::Guarded<std::list<Early>> early_;  // taken before the ledger
  std::thread thread_;
};

}  // namespace perdure::engine
