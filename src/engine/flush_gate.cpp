#include "engine/flush_gate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "engine/now.hpp"

namespace perdure::engine {

// While slots are wanted, reading far ahead of a busy store would only take bandwidth from those who write to the slow
// tier (the simulator's nodes do the same). What the application is to feel is a number of threads, whatever they do.
bool FlushGate::may_enter(bool reading, unsigned threads, const View& view) const {
  unsigned most = threads;
  if (view.pressure.max_slowdown <= 0 && threads > 0) most += view.slots_wanted ? std::max(threads / 8, 1U) : threads;
  return (reading ? reading_ : storing_) < threads && inside() < most;
}

void FlushGate::await(std::unique_lock<std::mutex>& guard, const std::atomic<bool>& given_up,
                      const std::function<bool(unsigned threads, const View& view)>& may) {
  while (!shut_ && !given_up) {
    const View view = look_();
    const auto answer = pool_.decide({now_s(), inside(), limit_, inside() + waiting_, somebody_waits_, view.pressure});
    if (may(answer.threads, view)) return;
    const double wait_s = answer.again_s - now_s();
    if (std::isfinite(wait_s))
      changed_.wait_for(guard, std::chrono::duration<double>(std::max(wait_s, 0.0)));
    else
      changed_.wait(guard);
  }
}

FlushGate::Pass FlushGate::enter(bool reading, const std::atomic<bool>& given_up) {
  std::unique_lock guard(lock_);
  ++waiting_;
  await(guard, given_up, [&](unsigned threads, const View& view) { return may_enter(reading, threads, view); });
  --waiting_;
  ++(reading ? reading_ : storing_);
  return {reading};
}

void FlushGate::leave(const Pass& pass) {
  std::lock_guard guard(lock_);
  --(pass.reading ? reading_ : storing_);
  changed_.notify_all();
}

void FlushGate::reads(Pass& pass) {
  std::lock_guard guard(lock_);
  if (std::exchange(pass.reading, true)) return;
  --storing_;
  ++reading_;
  changed_.notify_all();
}

// Who is inside goes on, however few are allowed by now: its chunk is under way.
void FlushGate::stores(Pass& pass, const std::atomic<bool>& given_up) {
  std::unique_lock guard(lock_);
  if (!pass.reading) return;
  ++waiting_for_store_;
  await(guard, given_up, [&](unsigned threads, const View&) { return storing_ < std::max(threads, 1U); });
  --waiting_for_store_;
  pass.reading = false;
  --reading_;
  ++storing_;
  changed_.notify_all();
}

FlushGate::Status FlushGate::status() const {
  return {inside(), waiting_ + waiting_for_store_, inside() < limit_ ? std::min(waiting_, limit_ - inside()) : 0};
}

void FlushGate::shut() {
  shut_ = true;
  changed_.notify_all();
}

void FlushGate::somebody_waits(bool waits) {
  if (std::exchange(somebody_waits_, waits) != waits && waits) changed_.notify_all();
}

void FlushGate::observe(const metrics::FlushRate::Observation& observation) {
  pool_.observe(now_s(), observation.flushes, observation.bytes_per_s);
}

}  // namespace perdure::engine
