#include "client/slot_prefaulter.hpp"

#include <system_error>

#include "os/affinity.hpp"

namespace perdure::client {

void SlotPrefaulter::add(const tier::SlotAddress& slot, std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  tasks_.push_back({slot, bytes});
  if (running_) return;
  if (thread_.joinable()) thread_.join();
  try {
    thread_ = std::thread([this] {
      os::use_cpus(cpus_);
      run();
    });
    running_ = true;
  } catch (const std::system_error&) {
    tasks_.clear();  // the system refuses the thread: the capture prepares its slots itself
  }
}

void SlotPrefaulter::stop() {
  {
    std::lock_guard guard(mutex_);
    tasks_.clear();
  }
  if (thread_.joinable()) thread_.join();
}

// Ends when there is nothing left, so that a handle at rest has no thread.
void SlotPrefaulter::run() {
  std::unique_lock guard(mutex_);
  while (!tasks_.empty()) {
    Task task = tasks_.front();
    tasks_.pop_front();
    guard.unlock();
    task.slot.fresh = false;  // whoever is granted the slot decides anew whether it has to be backed again
    (void)slots_.prepare(task.slot, task.bytes);
    guard.lock();
  }
  running_ = false;
}

}  // namespace perdure::client
