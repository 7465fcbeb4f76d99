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
  if (!paused) not_before_ = std::chrono::steady_clock::now() + kAfterPause;
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
  while (!ends()) {
    const auto until = not_before_;  // which changes while this waits
    if (changed_.wait_until(guard, until, ends)) break;
    Task& task = tasks_.front();
    task.slot.fresh = false;  // the rank that is granted the slot decides anew whether to back it again
    const std::uint64_t begin = task.done;
    task.done = std::min(begin + kAtOnce, task.bytes);
    const Task now = task;
    if (now.done == now.bytes) tasks_.pop_front();
    guard.unlock();
    const bool prepared = slots_.prepare_part(now.slot, begin, now.done).has_value();
    guard.lock();
    // Without room the rest of it would be refused, too, unless it was forgotten meanwhile.
    if (!prepared && now.done < now.bytes && !tasks_.empty() && tasks_.front().done == now.done) tasks_.pop_front();
  }
  running_ = false;
}

}  // namespace perdure::client
