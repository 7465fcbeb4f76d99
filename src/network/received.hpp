#pragma once
// Counts received messages, and those that belonged to nobody. Thread-safe.
#include <atomic>
#include <deque>
#include <mutex>
#include <vector>

#include "base/result.hpp"

namespace perdure::network {

struct Received {
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> dropped{0};  ///< damaged, or of no session

  /// Records a peer that could not prove the job key.
  void remember_unauthenticated(const base::Error& who) {
    ++unauthenticated_;
    const std::lock_guard lock(mutex_);
    last_.push_back(who);
    if (last_.size() > kMostRemembered) last_.pop_front();
  }
  std::uint64_t unauthenticated() const { return unauthenticated_; }
  std::vector<base::Error> last_unauthenticated() const {
    const std::lock_guard lock(mutex_);
    return {last_.begin(), last_.end()};
  }

 private:
  static constexpr std::size_t kMostRemembered = 16;
  std::atomic<std::uint64_t> unauthenticated_{0};
  mutable std::mutex mutex_;
  std::deque<base::Error> last_;
};

}  // namespace perdure::network
