#pragma once
// The threads that flush whole versions: one for what is committed, in the order of commits, and two that lead the
// flushes of captures which begin before their commit, however many there are.
#include <condition_variable>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "engine/flush/ledger_source.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

/// One publishes, and waits for the store to sync, while another goes on with what is being captured.
inline constexpr std::size_t kCaptureLeads = 2;
/// So many captures are flushed at once while they have something for the store. Others begin when these have nothing,
/// as those that wait for slots: who has none can keep nobody from getting some. What is committed before its flush
/// began is for the queue.
inline constexpr std::size_t kCapturesAtOnce = 2;

/// The flush of a capture: used by the thread that is busy with it.
struct CaptureFlush {
  CaptureFlush(segment::VersionId of, FlushActivity& activity) : id(std::move(of)), part(activity) {}
  segment::VersionId id;
  FlushActivity::Part part;
  bool busy = true;                 ///< with the list's lock
  std::uint64_t begun_ns = 0;       ///< the attempt
  std::uint64_t not_before_ns = 0;  ///< of the next attempt, after one that failed
  std::unique_ptr<LedgerSource> source;
  std::unique_ptr<WriteThrough> flush;  ///< nullptr: no attempt is under way
};

/// How the flush of a capture ended.
struct CaptureEnd {
  std::optional<base::Error> failure;  ///< that it was given up for
};

/// What these threads do. Called without a lock.
class FlushWork {
 public:
  virtual ~FlushWork() = default;
  /// One attempt of a committed version; it ended, one way or the other.
  virtual void flush_committed(const segment::VersionId& id, FlushActivity::Part& part) = 0;
  /// As far as it gets without waiting. Nothing: it is not over.
  virtual std::optional<CaptureEnd> advance_capture(CaptureFlush& capture) = 0;
  /// A capture's flush has ended.
  virtual void capture_over(const segment::VersionId& id) = 0;
  /// No version is left to be flushed.
  virtual void clean_leftovers() = 0;
  /// One of the threads failed in between, or none could be had for a capture, which fails for it.
  virtual void thread_failed(const base::Error& why) = 0;
};

class FlushWorkers {
 public:
  /// All outlive it. The ledger says what is to be flushed.
  FlushWorkers(FlushContext& context, FlushActivity& activity, FlushWork& work)
      : context_(context), activity_(activity), work_(work) {}
  base::Status start();
  void notify();  ///< there may be something to flush
  /// There may be something to do for captures, or flushes to begin that the ledger has chosen for it.
  void reevaluate_captures();
  /// For so long, or until stop().
  void pause(std::uint64_t delay_ns);
  /// Once the context says that it stops: returns when all threads have ended.
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
  base::Guarded<Captures> captures_;  // taken after the ledger, or alone; nothing is taken with it
  base::Guarded<os::Threads> leads_;  // taken before the ledger
  os::Thread thread_;
};

}  // namespace perdure::engine
