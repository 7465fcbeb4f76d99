#pragma once
// Estimates how much flushing costs the application: compares steps of its ranks by how much of each a flush ran. Knows
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

  /// Call these around each chunk that a flush brings to the store.
  void flush_begins(double now_s) { flushing_.begins(now_s); }
  void flush_ends(double now_s) { flushing_.ends(now_s); }
  /// A step of this client ends now and took `seconds`. A step that began before this engine is ignored.
  void step(ClientId client, double now_s, double seconds);
  void client_gone(ClientId client) { ranks_.erase(client); }

  /// These return the median, over ranks with a known value, of the metrics::StepTime figures. Ranks that compute
  /// together wait for each other in every step. So a slowdown of one shows at all of them, while noise shows at few.
  std::optional<double> slowdown() const { return middle(&metrics::StepTime::slowdown); }
  std::optional<double> at_least() const { return middle(&metrics::StepTime::at_least); }
  std::optional<double> threads() const { return middle(&metrics::StepTime::threads); }
  std::optional<double> quiet_step_s() const { return middle(&metrics::StepTime::quiet_step_s); }
  /// Count of the rank with the most; it falls when that rank has gone.
  std::uint64_t steps() const { return most(&metrics::StepTime::steps); }
  std::uint64_t flushed_steps() const { return most(&metrics::StepTime::flushed_steps); }
  /// Returns all of it in the form that placement::FlushPool takes.
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
