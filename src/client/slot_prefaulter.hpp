#pragma once
// Prepares slots ahead of the first capture, on a thread of its own: pages are zeroed and mapped while the application
// starts up, not while it waits.
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
  /// Before the first add(). Empty, as without this call: on those of who calls add().
  void run_on(const os::CpuSet& cpus) { cpus_ = cpus; }
  /// Prepares `bytes` of the slot soon. A failure is no loss: the capture prepares again and hears the reason.
  void add(const tier::SlotAddress& slot, std::uint64_t bytes);
  void stop();  ///< forgets what was not begun; add() starts anew

 private:
  struct Task {
    tier::SlotAddress slot;
    std::uint64_t bytes = 0;
  };
  void run();
  tier::SlotIo& slots_;
  os::CpuSet cpus_;
  std::mutex mutex_;
  std::deque<Task> tasks_;
  bool running_ = false;
  os::Thread thread_;
};

}  // namespace perdure::client
