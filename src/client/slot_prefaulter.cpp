#include "client/slot_prefaulter.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "os/affinity.hpp"

namespace perdure::client {
namespace {

constexpr std::chrono::milliseconds kAfterPause{50};
constexpr std::uint64_t kAtOnce = 4 * base::MiB;  // a millisecond or two, which nobody can interrupt

}  // namespace

void SlotPrefaulter::add(const tier::SlotAddress& slot, std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  tasks_.push_back({slot, bytes});
  start();
}

void SlotPrefaulter::pause(bool paused) {
  std::lock_guard guard(mutex_);
  paused_ = paused;
  was_paused_ = true;
  changed_.notify_all();
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
    changed_.notify_all();
  }
  thread_.join();
}

// Ends when there is nothing left, so that a handle at rest has no thread.
void SlotPrefaulter::run() {
  std::unique_lock guard(mutex_);
  const auto ends = [&] { return tasks_.empty() || paused_; };
  if (std::exchange(was_paused_, false)) changed_.wait_for(guard, kAfterPause, ends);
  while (!ends()) {
    Task& task = tasks_.front();
    task.slot.fresh = false;  // whoever is granted the slot decides anew whether it has to be backed again
    task.done = std::min(task.done + kAtOnce, task.bytes);
    const Task now = task;
    if (now.done == now.bytes) tasks_.pop_front();
    guard.unlock();
    (void)slots_.prepare(now.slot, now.done);
    guard.lock();
  }
  running_ = false;
}

}  // namespace perdure::client
