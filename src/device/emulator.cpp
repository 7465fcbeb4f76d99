#include "device/emulator.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace perdure::device {
namespace {

class RealClock final : public Clock {
 public:
  double now_s() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed, double seconds) override {
    changed.wait_for(lock, std::chrono::duration<double>(std::min(seconds, 3600.0)));
  }
};

}  // namespace

Clock& real_clock() {
  static RealClock clock;
  return clock;
}

Emulator::Emulator(const Device& description, double time_scale, std::uint64_t seed, Clock& clock)
    : clock_(clock), time_scale_(time_scale), epoch_s_(clock.now_s()), device_(description, seed) {}

void Emulator::advance() {
  device_.advance(described_now_s());
  for (const Completion& completion : device_.take_completed()) {
    running_.erase(completion.stream);
    tell(completion.stream);
  }
}

void Emulator::tell(StreamId stream) {
  const auto [first, last] = waiting_.equal_range(stream);
  for (auto it = first; it != last; ++it) it->second.notify_one();
}

// The next event may have changed: one more stream can make the others slower, and on some devices faster.
void Emulator::changed() {
  if (watch_ != nullptr) watch_->notify_one();
}

void Emulator::limit(double bytes_per_s) {
  std::lock_guard guard(mutex_);
  advance();
  device_.limit(described_now_s(), bytes_per_s);
  changed();
}

StreamId Emulator::start(std::uint64_t bytes) {
  std::lock_guard guard(mutex_);
  advance();
  const StreamId stream = device_.start(described_now_s(), static_cast<double>(bytes));
  running_.insert(stream);
  changed();
  return stream;
}

void Emulator::cancel(StreamId stream) {
  std::lock_guard guard(mutex_);
  advance();
  if (running_.erase(stream) > 0) device_.cancel(described_now_s(), stream);
  tell(stream);
  changed();
}

bool Emulator::over(StreamId stream) {
  std::lock_guard guard(mutex_);
  advance();
  return shut_ || !running_.contains(stream);
}

void Emulator::wait(StreamId stream) {
  std::unique_lock lock(mutex_);
  const auto self = waiting_.emplace(std::piecewise_construct, std::forward_as_tuple(stream), std::tuple<>());
  for (;;) {
    advance();
    if (shut_ || !running_.contains(stream)) break;
    if (watch_ == nullptr) watch_ = &self->second;
    if (watch_ == &self->second)
      clock_.wait(lock, self->second, to_next_event_s());
    else
      self->second.wait(lock);
  }
  // Also if nobody watches: the thread that was told to watch may be this one, and have nothing more to wait for.
  const bool another_watches = watch_ != nullptr && watch_ != &self->second;
  waiting_.erase(self);
  if (another_watches) return;
  watch_ = nullptr;
  if (!waiting_.empty()) waiting_.begin()->second.notify_one();
}

double Emulator::to_next_event_s() const {
  return std::max(device_.next_event().value_or(0) - device_.now_s(), 0.0) * time_scale_;
}

double Emulator::ask_again_in_s(StreamId stream) {
  std::lock_guard guard(mutex_);
  advance();
  return shut_ || !running_.contains(stream) ? 0 : to_next_event_s();
}

unsigned Emulator::streams() {
  std::lock_guard guard(mutex_);
  advance();
  return static_cast<unsigned>(running_.size());
}

void Emulator::shut() {
  std::lock_guard guard(mutex_);
  shut_ = true;
  for (auto& [stream, waiter] : waiting_) waiter.notify_one();
}

}  // namespace perdure::device
