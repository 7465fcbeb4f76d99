#include "engine/upkeep/retention_queue.hpp"

#include <algorithm>
#include <utility>

namespace perdure::engine {
namespace {

constexpr std::uint64_t kFirstDelayMs = 50, kLongestDelayMs = 5000;

}  // namespace

void RetentionQueue::activate() {
  if (std::exchange(active_, true)) return;
  clean_ = true;
  now_ = all_;
}

void RetentionQueue::add(const std::string& name) {
  all_.insert(name);
  if (!active_) return;
  now_.insert(name);
  delay_ms_ = kFirstDelayMs;
  looks_ = 0;
}

void RetentionQueue::add_all() {
  if (active_) now_.insert(all_.begin(), all_.end());
}

void RetentionQueue::again(const std::string& name, unsigned most) {
  if (looks_ < most) later_.insert(name);
}

void RetentionQueue::delay_over() {
  now_.merge(later_);
  later_.clear();
  delay_ms_ = std::min(delay_ms_ * 2, kLongestDelayMs);
  ++looks_;
}

RetentionQueue::Work RetentionQueue::take() { return {std::exchange(clean_, false), std::exchange(now_, {})}; }

}  // namespace perdure::engine
