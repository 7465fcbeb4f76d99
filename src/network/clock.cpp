#include "network/clock.hpp"

#include <algorithm>
#include <chrono>

#include "os/system.hpp"

namespace perdure::network {
namespace {

constexpr std::uint64_t kAgain_ns = 10'000'000;  // after a tick that failed

}  // namespace

base::Status Clock::start(std::function<std::uint64_t(std::uint64_t)> tick) {
  tick_ = std::move(tick);
  PERDURE_TRY(thread_, os::Thread::start(
                           "clock", [this] { run(); },
                           [this](const base::Error&) {
                             const std::lock_guard lock(mutex_);
                             return !stopping_;
                           }));
  return {};
}

void Clock::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Clock::arm(std::uint64_t when_ns) {
  if (wake_ns_.load() <= when_ns) return;
  {
    const std::lock_guard lock(mutex_);
    if (wake_ns_ <= when_ns) return;
    wake_ns_ = when_ns;
  }
  changed_.notify_one();
}

void Clock::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const std::uint64_t now = os::monotonic_ns();
    if (wake_ns_ > now) {
      if (wake_ns_ == kNever)
        changed_.wait(lock);
      else
        changed_.wait_for(lock, std::chrono::nanoseconds(wake_ns_ - now));
      continue;
    }
    // A thread that arms the clock from now on may mean work that this tick does not see any more.
    wake_ns_ = kNever;
    ++ticks_;
    lock.unlock();
    std::uint64_t next = now + kAgain_ns;
    (void)base::caught("clock", [&]() -> base::Status {
      next = tick_(now);
      return {};
    });
    lock.lock();
    wake_ns_ = std::min(wake_ns_.load(), next);
  }
}

}  // namespace perdure::network
