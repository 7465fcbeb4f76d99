#include "engine/upkeep/store_probe.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace perdure::engine {

StoreProbe::StoreProbe(store::Store& store, std::uint64_t delay_ns,
                       std::function<void(const segment::VersionId&)> whole)
    : store_(store), delay_ns_(delay_ns), whole_(std::move(whole)) {
  auto begun = os::Thread::start(
      "store probe", [this] { run(); },
      [this](const base::Error&) {
        std::lock_guard guard(mutex_);
        return !stopping_;  // callers without an answer ask again
      });
  if (begun)
    thread_ = std::move(*begun);
  else
    started_ = base::fail(begun.error());
}

void StoreProbe::ask(const segment::VersionId& id) {
  {
    std::lock_guard guard(mutex_);
    if (std::find(asked_.begin(), asked_.end(), id) != asked_.end()) return;
    asked_.push_back(id);
  }
  wake_.notify_all();
}

void StoreProbe::stop() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void StoreProbe::run() {
  std::unique_lock guard(mutex_);
  while (!stopping_) {
    wake_.wait(guard, [this] { return stopping_ || !asked_.empty(); });
    // A node reports its own stored part, and usually that report comes first.
    if (wake_.wait_for(guard, std::chrono::nanoseconds(delay_ns_), [this] { return stopping_; })) return;
    const auto ids = std::exchange(asked_, {});
    for (const auto& id : ids) {
      if (stopping_) return;
      guard.unlock();
      look_for(id);
      guard.lock();
    }
  }
}

// A caller without an answer asks again if it still waits for room.
void StoreProbe::look_for(const segment::VersionId& id) {
  const auto listings = store_.list(id.name);
  if (!listings) return;
  for (const auto& listing : *listings)
    if (listing.id == id && listing.all_present() && store::read_version(store_, listing)) whole_(id);
}

}  // namespace perdure::engine
