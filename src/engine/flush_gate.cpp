#include "engine/flush_gate.hpp"

#include <chrono>
#include <cmath>

#include "engine/now.hpp"

namespace perdure::engine {

void FlushGate::enter(const std::atomic<bool>& given_up) {
  std::unique_lock guard(lock_);
  ++waiting_;
  while (!shut_ && !given_up) {
    const auto answer = pool_.decide({now_s(), inside_, limit_, inside_ + waiting_, somebody_waits_, pressure_()});
    if (inside_ < answer.threads) break;
    const double wait_s = answer.again_s - now_s();
    if (std::isfinite(wait_s))
      changed_.wait_for(guard, std::chrono::duration<double>(std::max(wait_s, 0.0)));
    else
      changed_.wait(guard);
  }
  --waiting_;
  ++inside_;
}

void FlushGate::leave() {
  std::lock_guard guard(lock_);
  --inside_;
  changed_.notify_all();
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
