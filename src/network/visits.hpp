#pragma once
// Counts users' calls inside an endpoint: its destructor waits for all of them. Thread-safe.
#include <atomic>
#include <condition_variable>
#include <mutex>

namespace perdure::network {

class Visits {
 public:
  class Visit {
   public:
    explicit Visit(Visits& visits) : visits_(visits) {
      const std::lock_guard lock(visits_.mutex_);
      ++visits_.count_;
    }
    ~Visit() {
      const std::lock_guard lock(visits_.mutex_);
      if (--visits_.count_ == 0) visits_.over_.notify_all();
    }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    Visits& visits_;
  };
  /// Asks all callers inside to leave from now on.
  void close() { closing_ = true; }
  bool closing() const { return closing_; }
  void wait_until_none() {
    std::unique_lock lock(mutex_);
    over_.wait(lock, [this] { return count_ == 0; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  unsigned count_ = 0;
  std::atomic<bool> closing_{false};
};

}  // namespace perdure::network
