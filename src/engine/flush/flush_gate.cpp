#include "engine/flush/flush_gate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "os/system.hpp"
#include "placement/flush_order.hpp"

namespace perdure::engine {

// With a slowdown budget, the limit counts all threads, whether they read or write. Threads inside go on even if fewer
// are allowed by now, because their chunks are in flight.
bool FlushGate::may(Wish wish, unsigned threads) const {
  if (wish == Wish::store_after_reading) return storing_ < std::max(threads, 1U);
  const unsigned most =
      view_.pressure.max_slowdown > 0 ? threads : placement::most_under_way(threads, view_.slots_wanted);
  return (wish == Wish::enter_to_read ? reading_ : storing_) < threads && inside() < most;
}

FlushGate::Line& FlushGate::line(Wish wish) {
  if (wish == Wish::store_after_reading) return has_read_;
  return wish == Wish::enter_to_read ? to_read_ : to_store_;
}

void FlushGate::await(Wish wish, base::Lock& lock, const std::atomic<bool>& given_up) {
  Line& mine = line(wish);
  ++mine.waiting;
  while (!shut_ && !given_up) {
    const auto answer =
        pool_.decide({os::monotonic_s(), inside(), limit_, inside() + outside(), somebody_waits_, view_.pressure});
    if (may(wish, answer.threads)) break;
    const double wait_s = answer.again_s - os::monotonic_s();
    if (std::isfinite(wait_s))
      lock.wait_for(mine.changed, std::chrono::duration<double>(std::max(wait_s, 0.0)));
    else
      lock.wait(mine.changed);
  }
  --mine.waiting;
}

// A thread that got in calls this, too, since there may be room for more than one.
void FlushGate::room() {
  has_read_.changed.notify_one();
  to_store_.changed.notify_one();
  to_read_.changed.notify_one();
}

void FlushGate::wake_all() {
  has_read_.changed.notify_all();
  to_store_.changed.notify_all();
  to_read_.changed.notify_all();
}

FlushGate::Pass FlushGate::enter(bool reading, const std::atomic<bool>& given_up) {
  base::Lock lock(mutex_);
  await(reading ? Wish::enter_to_read : Wish::enter_to_store, lock, given_up);
  ++(reading ? reading_ : storing_);
  room();
  return {reading};
}

void FlushGate::leave(const Pass& pass) {
  const base::Lock lock(mutex_);
  --(pass.reading ? reading_ : storing_);
  if (inside() == 0) pool_.idle(os::monotonic_s());
  room();
}

void FlushGate::reads(Pass& pass) {
  const base::Lock lock(mutex_);
  if (std::exchange(pass.reading, true)) return;
  --storing_;
  ++reading_;
  room();
}

void FlushGate::stores(Pass& pass, const std::atomic<bool>& given_up) {
  base::Lock lock(mutex_);
  if (!pass.reading) return;
  await(Wish::store_after_reading, lock, given_up);
  pass.reading = false;
  --reading_;
  ++storing_;
  room();
}

FlushGate::Status FlushGate::status() const {
  const base::Lock lock(mutex_);
  const unsigned held_back = inside() < limit_ ? std::min(outside(), limit_ - inside()) : 0;
  return {inside(), outside() + has_read_.waiting, held_back};
}

void FlushGate::see(const View& view) {
  const base::Lock lock(mutex_);
  view_ = view;
}

void FlushGate::look_again() {
  const base::Lock lock(mutex_);
  wake_all();
}

void FlushGate::shut() {
  const base::Lock lock(mutex_);
  shut_ = true;
  wake_all();
}

void FlushGate::somebody_waits(bool waits) {
  const base::Lock lock(mutex_);
  if (std::exchange(somebody_waits_, waits) != waits && waits) wake_all();
}

void FlushGate::observe(const metrics::FlushRate::Observation& observation) {
  // The pool's number bounds readers and writers separately, so the larger of both is the number it allowed. With a
  // budget it bounds both together.
  const double reading = observation.flushes - observation.storing;
  const base::Lock lock(mutex_);
  const bool together = view_.pressure.max_slowdown > 0;
  pool_.observe(os::monotonic_s(), together ? observation.flushes : std::max(reading, observation.storing),
                observation.bytes_per_s);
}

}  // namespace perdure::engine
