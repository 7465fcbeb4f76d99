#pragma once
// The door that threads pass for every chunk they flush: so many are inside at once as placement::FlushPool says.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>

#include "metrics/flush_rate.hpp"
#include "placement/flush_pool.hpp"

namespace perdure::engine {

class FlushGate {
 public:
  /// `lock` guards it; `pressure` is called with the lock held. At most `limit` threads are inside.
  FlushGate(std::mutex& lock, unsigned limit, std::function<placement::Pressure()> pressure)
      : lock_(lock), limit_(limit), pressure_(std::move(pressure)), pool_(limit) {}

  /// Blocks until there is room, `given_up` is set and look_again() called, or shut() was. leave() belongs to it in
  /// every case.
  void enter(const std::atomic<bool>& given_up);
  void leave();

  // ---- The rest with the lock held.
  void look_again() { changed_.notify_all(); }
  void shut();
  /// Somebody waits for what a flush will bring: then the application's budget does not count.
  void somebody_waits(bool waits);
  void observe(const metrics::FlushRate::Observation& observation);

  struct Status {
    unsigned inside = 0, waiting = 0;
  };
  Status status() const { return {inside_, waiting_}; }

 private:
  std::mutex& lock_;
  const unsigned limit_;
  std::function<placement::Pressure()> pressure_;
  placement::FlushPool pool_;
  std::condition_variable changed_;
  unsigned inside_ = 0, waiting_ = 0;
  bool somebody_waits_ = false, shut_ = false;
};

}  // namespace perdure::engine
