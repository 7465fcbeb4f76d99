#pragma once
// One thread that does what is due, and sleeps as long as nothing is.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>

#include "os/thread.hpp"

namespace perdure::network {

class Clock {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  /// `tick(now)` does what is due and returns when the next is.
  base::Status start(std::function<std::uint64_t(std::uint64_t now_ns)> tick);
  void stop();  ///< no tick runs afterwards; repeatable
  /// Something is due then. Costs nothing when a tick is due earlier anyway.
  void arm(std::uint64_t when_ns);
  std::uint64_t ticks() const { return ticks_; }

 private:
  void run();
  std::function<std::uint64_t(std::uint64_t)> tick_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::atomic<std::uint64_t> wake_ns_{kNever};
  std::atomic<std::uint64_t> ticks_{0};
  os::Thread thread_;
};

}  // namespace perdure::network
