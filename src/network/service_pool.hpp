#pragma once
// A few threads that carry out what peers ask for, away from the wire's thread.
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace perdure::network {

class ServicePool {
 public:
  void start(unsigned threads) {
    for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  /// What runs is waited for, what waits is dropped. Repeatable.
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
      work_.clear();
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
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
      work();
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::deque<std::function<void()>> work_;
  std::vector<std::thread> threads_;
};

}  // namespace perdure::network
