#pragma once
// Prepares slots ahead of the first capture, on a thread of its own. Pages are zeroed and mapped while the application
// starts up, not while it waits.
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "os/cpu_set.hpp"
#include "os/thread.hpp"
#include "tier/slot_io.hpp"

namespace perdure::client {

class SlotPrefaulter {
 public:
  explicit SlotPrefaulter(tier::SlotIo& slots) : slots_(slots) {}
  ~SlotPrefaulter() { stop(); }
  /// Sets the thread's processors, before the first add(). Empty, or without this call: those of the thread that calls
  /// add().
  void run_on(const os::CpuSet& cpus) { cpus_ = cpus; }
  /// The processors of the engine that are near the rank; empty: as the application.
  const os::CpuSet& cpus() const { return cpus_; }
  /// Prepares `bytes` of the slot soon. A failure loses nothing: the capture prepares again and gets the reason.
  void add(const tier::SlotAddress& slot, std::uint64_t bytes);
  void stop();  ///< forgets what was not begun; add() starts anew
  /// Stops the preparing while one of these lives, and a little longer: a rank waits for the processors' other work.
  /// When one rank is done, others of its node are about to be. One at a time.
  class Pause {
   public:
    explicit Pause(SlotPrefaulter& of) : of_(of) { of_.pause(true); }
    ~Pause() {
      base::attempt([this] { of_.pause(false); });
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    SlotPrefaulter& of_;
  };

 private:
  struct Task {
    tier::SlotAddress slot;
    std::uint64_t bytes = 0, done = 0;
  };
  void pause(bool paused);
  void start();  // with the mutex
  void run();
  tier::SlotIo& slots_;
  os::CpuSet cpus_;
  std::mutex mutex_;
  std::deque<Task> tasks_;
  std::condition_variable changed_;  // signals that no task is left, or that it is to pause
  bool running_ = false, paused_ = false;
  std::chrono::steady_clock::time_point not_before_;
  os::Thread thread_;
};

}  // namespace perdure::client
