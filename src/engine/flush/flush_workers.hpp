#pragma once
// The threads that flush whole versions: one for what is committed, in the order of commits, and one for each capture
// that is flushed while it runs.
#include <condition_variable>
#include <list>
#include <optional>

#include "engine/flush/flush_activity.hpp"
#include "engine/flush/flush_context.hpp"
#include "os/thread.hpp"

namespace perdure::engine {

/// What these threads do. Called without a lock.
class FlushWork {
 public:
  virtual ~FlushWork() = default;
  /// One attempt of a committed version; it ended, one way or the other.
  virtual void flush_committed(const segment::VersionId& id, FlushActivity::Part& part) = 0;
  /// Until it is stored, or nobody wants it any more: nothing. Else the error that it was given up for.
  virtual std::optional<base::Error> flush_capture(const segment::VersionId& id, FlushActivity::Part& part) = 0;
  /// The thread of a capture's flush has ended.
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
  /// Begins flushes of captures that the ledger has chosen for it.
  void reevaluate_captures();
  /// For so long, or until stop().
  void pause(std::uint64_t delay_ns);
  /// Once the context says that it stops: returns when all threads have ended.
  void stop();

 private:
  struct CaptureThread {
    std::atomic<bool> over = false;
    os::Thread thread;
  };
  void run();
  void run_capture(const segment::VersionId& id);
  base::Status begin_capture(std::list<CaptureThread>& threads, const segment::VersionId& id);
  void capture_over(const segment::VersionId& id, const std::optional<base::Error>& error);

  FlushContext& context_;
  FlushActivity& activity_;
  FlushWork& work_;
  std::condition_variable wake_;  // waited for with the ledger
  std::atomic<bool> wanted_ = true;
  base::Guarded<std::list<CaptureThread>> capture_threads_;  // taken before the ledger
  os::Thread thread_;
};

}  // namespace perdure::engine
