#pragma once
// Runs one thread that does due work, and sleeps otherwise.
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
  /// Starts the thread. `tick(now)` does due work and returns the next due time.
  base::Status start(std::function<std::uint64_t(std::uint64_t now_ns)> tick);
  void stop();  ///< no tick runs afterwards; repeatable
  /// Announces work due then. Costs nothing if a tick is due earlier anyway.
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
