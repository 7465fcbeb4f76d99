#pragma once
// Runs the threads that flush whole versions. One takes committed versions in the order of commits. Two lead all
// flushes of captures that begin before their commit.
#include <condition_variable>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "engine/flush/ledger_source.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

/// One thread publishes, and waits for the store to sync, while the other goes on with open captures.
inline constexpr std::size_t kCaptureLeads = 2;
/// So many captures are flushed at once while they have data for the store. Others begin when these have none, for
/// example because their ranks wait for slots. A capture that waits for slots therefore cannot keep another from
/// freeing some. A version that was committed before its flush began goes to the queue.
inline constexpr std::size_t kCapturesAtOnce = 2;

/// The flush of a capture. Only the thread that is busy with it uses it.
struct CaptureFlush {
  CaptureFlush(segment::VersionId of, FlushActivity& activity) : id(std::move(of)), part(activity) {}
  segment::VersionId id;
  FlushActivity::Part part;
  bool busy = true;                 ///< changed with the list's lock
  std::uint64_t begun_ns = 0;       ///< start of the current attempt
  std::uint64_t not_before_ns = 0;  ///< earliest start of the next attempt after a failed one
  std::unique_ptr<LedgerSource> source;
  std::unique_ptr<WriteThrough> flush;  ///< nullptr: no attempt is under way
};

/// The end of a capture's flush.
struct CaptureEnd {
  std::optional<base::Error> failure;  ///< the error for which the flush was given up
};

/// The work that these threads do. Called without a lock.
class FlushWork {
 public:
  virtual ~FlushWork() = default;
  /// Makes one attempt to flush a committed version; returns when the attempt has ended, well or not.
  virtual void flush_committed(const segment::VersionId& id, FlushActivity::Part& part) = 0;
  /// Advances as far as it can without waiting. nullopt: the flush is not over.
  virtual std::optional<CaptureEnd> advance_capture(CaptureFlush& capture) = 0;
  /// Notes that a capture's flush has ended.
  virtual void capture_over(const segment::VersionId& id) = 0;
  /// Called when no version is left to be flushed.
  virtual void clean_leftovers() = 0;
  /// One of the threads failed between attempts, or no thread could be had for a capture, which fails for it.
  virtual void thread_failed(const base::Error& why) = 0;
};

class FlushWorkers {
 public:
  /// All arguments outlive it. The ledger says which versions are to be flushed.
  FlushWorkers(FlushContext& context, FlushActivity& activity, FlushWork& work)
      : context_(context), activity_(activity), work_(work) {}
  base::Status start();
  void notify();  ///< there may be something to flush
  /// Looks again at all captures: there may be work for them, or the ledger may have chosen flushes to begin.
  void reevaluate_captures();
  /// Sleeps for `delay_ns`, or until stop().
  void pause(std::uint64_t delay_ns);
  /// Call it once the context says `stopping`. Returns when all threads have ended.
  void stop();

 private:
  using Captures = std::list<CaptureFlush>;
  void run();
  void await_committed(Ledger::Access& ledger);
  void lead();
  CaptureFlush* next_capture(NodeState& state);
  void await_capture(Ledger::Access& ledger);
  void advance(CaptureFlush& capture);
  void end_capture(CaptureFlush& capture, const std::optional<base::Error>& error);
  base::Status begin_leads();
  void capture_over(const segment::VersionId& id, const std::optional<base::Error>& error);

  FlushContext& context_;
  FlushActivity& activity_;
  FlushWork& work_;
  std::condition_variable wake_;  // waited for with the ledger
  std::atomic<bool> wanted_ = true;
  base::Guarded<Captures> captures_;  // taken after the ledger, or alone; no other lock is taken with it
  base::Guarded<os::Threads> leads_;  // taken before the ledger
  os::Thread thread_;
};

}  // namespace perdure::engine
