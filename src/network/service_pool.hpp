#pragma once
// Runs peers' requests on a few threads, away from the wire's thread.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "os/thread.hpp"

namespace perdure::network {

class ServicePool {
 public:
  /// Starts fewer threads if the system refuses some; none is an error.
  base::Status start(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) {
      const auto begun = threads_.start(
          "service", [this] { run(); },
          [this](const base::Error&) {
            const std::lock_guard lock(mutex_);
            return !stopping_;
          });
      if (!begun && threads_.empty()) return base::fail(begun.error());
      if (!begun) break;
    }
    return {};
  }
  /// Waits for running work, and drops waiting work. Repeatable.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      work_.clear();
    }
    changed_.notify_all();
    threads_.join();  // waits for them
  }
  /// The callers bound the queue: a window of calls per peer, and one loss.
  void post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      if (stopping_) return;
      work_.push_back(std::move(work));
    }
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return stopping_ || !work_.empty(); });
      if (stopping_) return;
      const auto work = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      // A caller that waits for it gives up at its deadline.
      base::attempt([&work] { work(); });
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> work_;
  os::Threads threads_;
};

}  // namespace perdure::network
