#pragma once
// What flushing costs the application: the steps of its ranks, compared by how much of each a flush was running. Knows
// no clock: times are seconds that never go back. Not thread-safe.
#include <cstdint>
#include <map>
#include <optional>

#include "engine/ledger/write_times.hpp"
#include "metrics/busy_history.hpp"
#include "metrics/step_time.hpp"
#include "placement/slowdown_budget.hpp"

namespace perdure::engine {

class Interference {
 public:
  explicit Interference(double now_s) : flushing_(now_s) {}

  /// Around each chunk that a flush brings to the store.
  void flush_begins(double now_s) { flushing_.begins(now_s); }
  void flush_ends(double now_s) { flushing_.ends(now_s); }
  /// A step of this client, so long, is over now. One that began before this engine says nothing.
  void step(ClientId client, double now_s, double seconds);
  void client_gone(ClientId client) { ranks_.erase(client); }

  /// As metrics::StepTime; of the ranks for which it is known the middle one. Ranks that compute together wait for
  /// each other in every step, so that what slows down one shows at all, while chance shows at few.
  std::optional<double> slowdown() const { return middle(&metrics::StepTime::slowdown); }
  std::optional<double> at_least() const { return middle(&metrics::StepTime::at_least); }
  std::optional<double> threads() const { return middle(&metrics::StepTime::threads); }
  std::optional<double> quiet_step_s() const { return middle(&metrics::StepTime::quiet_step_s); }
  /// Of the rank with the most; fewer after that has gone.
  std::uint64_t steps() const { return most(&metrics::StepTime::steps); }
  std::uint64_t flushed_steps() const { return most(&metrics::StepTime::flushed_steps); }
  /// All of it, as placement::FlushPool wants to know it.
  placement::Pressure pressure(double max_slowdown) const {
    return {max_slowdown, slowdown(), at_least(), threads().value_or(0), steps(), flushed_steps()};
  }

 private:
  std::optional<double> middle(std::optional<double> (metrics::StepTime::*value)() const) const;
  std::uint64_t most(std::uint64_t (metrics::StepTime::*value)() const) const;

  metrics::BusyHistory flushing_;
  std::map<ClientId, metrics::StepTime> ranks_;
};

}  // namespace perdure::engine
