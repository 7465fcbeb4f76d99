#include "engine/store_look.hpp"

#include <chrono>
#include <utility>

namespace perdure::engine {

StoreLook::StoreLook(store::Store& store, std::uint64_t delay_ns, std::function<void(const segment::VersionId&)> whole)
    : store_(store), delay_ns_(delay_ns), whole_(std::move(whole)) {
  thread_ = std::thread([this] { run(); });
}

void StoreLook::ask(const std::string& name) {
  {
    std::lock_guard guard(mutex_);
    if (!asked_.insert(name).second) return;
  }
  wake_.notify_all();
}

void StoreLook::stop() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void StoreLook::run() {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    wake_.wait(guard, [this] { return stopping_ || !asked_.empty(); });
    // Whoever stored his part says so himself: mostly that comes first.
    if (wake_.wait_for(guard, std::chrono::nanoseconds(delay_ns_), [this] { return stopping_; })) return;
    const auto names = std::exchange(asked_, {});
    guard.unlock();
    for (const auto& name : names) {
      const auto listings = store_.list(name);
      if (!listings) continue;  // who waits asks again
      for (const auto& listing : *listings)
        if (listing.all_present()) whole_(listing.id);
    }
    guard.lock();
  }
}

}  // namespace perdure::engine
