#pragma once
// Brings versions to the store: what is done with each attempt's outcome. What can be retried is.
#include <functional>

#include "engine/flush/flush_workers.hpp"
#include "engine/flush/ledger_source.hpp"
#include "engine/flush/store_episode.hpp"

namespace perdure::engine {

class Flusher : private FlushWork {
 public:
  /// `changed(id, stored)` is called without the lock after every attempt, and `idle()` when nothing is left to flush
  /// and every `changed` has returned.
  Flusher(
      Ledger& ledger, store::Store& store, Reports& reports, FlusherOptions options,
      std::function<void(const segment::VersionId&, bool stored)> changed, std::function<void()> idle = [] {});
  ~Flusher() override { stop(); }
  const base::Status& started() const { return started_; }  ///< its thread; without it nothing is flushed
  void notify() { workers_.notify(); }                      ///< there may be something to flush
  void let_all_flush();                                     ///< nothing is held back any more
  /// Something changed in an open capture.
  void reevaluate_captures();
  /// True when no flush runs and everyone has heard of the end of the last, so that retention knows all that was
  /// stored.
  bool idle() const { return activity_.idle(); }
  /// Somebody waits for what is flushed. Cheap when that is no news.
  void somebody_waits(bool waits) { context_.gate.somebody_waits(waits); }
  /// What is known of the application changed.
  void look_at_application();
  FlushGate::Status gate_status() const { return context_.gate.status(); }
  void stop();  ///< ends the flushes in flight at their next block; returns when all threads have ended

 private:
  enum class Next { done, again, given_up };
  struct Ended {
    Next next = Next::done;
    std::uint64_t delay_ns = 0;  ///< until it is tried again
  };

  void flush_committed(const segment::VersionId& id, FlushActivity::Part& part) override;
  std::optional<CaptureEnd> advance_capture(CaptureFlush& capture) override;
  void capture_over(const segment::VersionId& id) override { changed_(id, false); }
  void clean_leftovers() override;
  void thread_failed(const base::Error& why) override;
  FlushOutcome attempt(const segment::VersionId& id, FlushActivity::Part& part);
  bool attempt(CaptureFlush& capture, FlushOutcome& outcome);
  bool begin_attempt(CaptureFlush& capture, FlushOutcome& outcome);
  void prepare(const segment::VersionId& id, const FlushJob& job, FlushOutcome& outcome);
  base::Status own(const std::string& name);
  base::Status replace_damaged(const std::string& name, const base::Error& damage);
  base::Status arrive(const segment::VersionId& id, bool& moved);
  Ended finish(const segment::VersionId& id, const FlushOutcome& outcome, double seconds);
  void succeeded(const segment::VersionId& id, const FlushOutcome& outcome, double seconds);
  void drop_unreachable(const std::string& name);
  bool drop_forgotten(const segment::VersionId& id);
  void unfinished(const segment::VersionId& id, const base::Error& why);
  void chunk_damaged(const segment::VersionId& id, const FlushOutcome& outcome);
  std::optional<std::uint64_t> store_failed(const segment::VersionId& id, const base::Error& error, double seconds);

  FlushContext context_;
  store::Store& store_;
  Reports& reports_;
  std::function<void(const segment::VersionId&, bool)> changed_;
  tier::SlotIo slots_;
  std::atomic<bool> prepared_ = false;   // the store was there once: when it is missing later, it is waited for
  base::Guarded<StoreEpisode> episode_;  // nothing is taken with it held but the reports
  struct Owners {
    std::set<std::string> owned;                            // names that somebody is known to own
    std::map<std::string, std::uint64_t> damaged_since_ns;  // names whose record nobody can read
  };
  base::Guarded<Owners> owners_;
  FlushActivity activity_;
  ChunkPool pool_;
  FlushWorkers workers_;
  base::Status started_;
};

}  // namespace perdure::engine
