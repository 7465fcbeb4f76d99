#pragma once
// Brings versions to the store and decides what follows from each attempt's outcome. It retries every failure that can
// be retried.
#include <functional>

#include "engine/flush/flush_workers.hpp"
#include "engine/flush/ledger_source.hpp"
#include "engine/flush/store_episode.hpp"

namespace perdure::engine {

class Flusher : private FlushWork {
 public:
  /// Calls `changed(id, stored)` without the lock after every attempt. Calls `idle()` when nothing is left to flush and
  /// every `changed` has returned.
  Flusher(
      Ledger& ledger, store::Store& store, Reports& reports, FlusherOptions options,
      std::function<void(const segment::VersionId&, bool stored)> changed, std::function<void()> idle = [] {});
  ~Flusher() override { stop(); }
  const base::Status& started() const { return started_; }  ///< of its thread; without the thread nothing is flushed
  void notify() { workers_.notify(); }                      ///< there may be something to flush
  void let_all_flush();                                     ///< holds back no version any more
  /// Something changed in an open capture.
  void reevaluate_captures();
  /// True when no flush runs and the callback for the last one has returned. Retention then knows of every stored
  /// version.
  bool idle() const { return activity_.idle(); }
  /// Somebody waits for the result of a flush, or no longer does. Cheap if that has not changed.
  void somebody_waits(bool waits) { context_.gate.somebody_waits(waits); }
  /// The engine learned something new about the application's speed.
  void look_at_application();
  FlushGate::Status gate_status() const { return context_.gate.status(); }
  void stop();  ///< ends flushes in flight at their next block; returns when all threads have ended

 private:
  enum class Next { done, again, given_up };
  struct Ended {
    Next next = Next::done;
    std::uint64_t delay_ns = 0;  ///< until the next attempt
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
  std::atomic<bool> prepared_ = false;   // the store was there once: if it is missing later, the flusher waits for it
  base::Guarded<StoreEpisode> episode_;  // only the reports' lock is taken with it held
  struct Owners {
    std::set<std::string> owned;                            // names that have a known owner
    std::map<std::string, std::uint64_t> damaged_since_ns;  // names whose owner record cannot be read, and since when
  };
  base::Guarded<Owners> owners_;
  FlushActivity activity_;
  ChunkPool pool_;
  FlushWorkers workers_;
  base::Status started_;
};

}  // namespace perdure::engine
