#include "engine/prefaulter.hpp"

namespace perdure::engine {

void Prefaulter::add(const std::vector<tier::SlotAddress>& slots) {
  if (!enabled_ || slots.empty()) return;
  {
    std::lock_guard guard(mutex_);
    queue_.insert(queue_.end(), slots.begin(), slots.end());
  }
  wake_.notify_all();
}

void Prefaulter::stop() {
  {
    std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Prefaulter::run() {
  std::unique_lock guard(mutex_);
  for (;;) {
    wake_.wait(guard, [this] { return stopping_ || !queue_.empty(); });
    if (stopping_) return;
    const tier::SlotAddress slot = queue_.front();
    queue_.pop_front();
    guard.unlock();
    {
      // A mapping of its own for each slot, gone at once: only the pages are wanted. A failure here is no loss: whoever gets the slot prepares
      // it again and hears the reason.
      tier::SlotIo io;
      (void)io.prepare(slot, slot.capacity);
    }
    guard.lock();
  }
}

}  // namespace perdure::engine
