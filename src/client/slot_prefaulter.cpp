#include "client/slot_prefaulter.hpp"

#include "os/affinity.hpp"

namespace perdure::client {

void SlotPrefaulter::add(const tier::SlotAddress& slot, std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  tasks_.push_back({slot, bytes});
  start();
}

void SlotPrefaulter::pause(bool paused) {
  std::lock_guard guard(mutex_);
  paused_ = paused;
  start();
}

void SlotPrefaulter::start() {
  if (running_ || paused_ || tasks_.empty()) return;
  thread_.join();
  auto begun = os::Thread::start(
      "slot prefaulter",
      [this] {
        os::use_cpus(cpus_);
        run();
      },
      [this](const base::Error&) {
        std::lock_guard inner(mutex_);
        tasks_.clear();  // the capture prepares its slots itself
        running_ = false;
        return false;
      });
  running_ = begun.has_value();
  if (begun)
    thread_ = std::move(*begun);
  else
    tasks_.clear();
}

void SlotPrefaulter::stop() {
  {
    std::lock_guard guard(mutex_);
    tasks_.clear();
  }
  thread_.join();
}

// Ends when there is nothing left, so that a handle at rest has no thread.
void SlotPrefaulter::run() {
  std::unique_lock guard(mutex_);
  while (!tasks_.empty() && !paused_) {
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
