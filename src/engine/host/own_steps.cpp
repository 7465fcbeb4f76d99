#include "engine/host/own_steps.hpp"

#include <numeric>

#include "engine/flush/flusher.hpp"
#include "engine/peers/node_group.hpp"
#include "engine/upkeep/janitor.hpp"

namespace perdure::engine {

// The ranks that recovered a version ask for its replication themselves.
void ReplicateStep::take(const StepVersion& version) {
  if (group_ != nullptr && !version.recovered) group_->committed(version.id);
}

void ReplicateStep::stored(const segment::VersionId& id) {
  if (group_ != nullptr) group_->stored(id);
}

StepStatus ReplicateStep::status() const {
  StepStatus status;
  if (group_ != nullptr && group_->under_way()) status.state = StepStatus::State::running;
  const auto ledger = ledger_.lock();
  status.done = ledger->counters().replications_reached;
  return status;
}

void FlushStep::take(const StepVersion&) {
  if (Flusher* flusher = flusher_) flusher->notify();
}

StepStatus FlushStep::status() const {
  StepStatus status;
  const Flusher* flusher = flusher_;
  const bool works = flusher != nullptr && !flusher->idle();
  const auto ledger = ledger_.lock();
  status.waiting = ledger->pending_versions();
  const auto& flushes = ledger->counters().flush_s.distribution().counts;
  status.done = std::accumulate(flushes.begin(), flushes.end(), std::uint64_t{0});
  if (works) status.state = StepStatus::State::running;
  if (const auto error = ledger->last_flush_error()) {
    status.state = StepStatus::State::failed;
    status.reason = error->text();
  }
  return status;
}

void RetireStep::take(const StepVersion& version) { janitor_.enforce_retention(version.id.name); }

StepStatus RetireStep::status() const {
  StepStatus status;
  if (!janitor_.idle()) status.state = StepStatus::State::running;
  status.done = janitor_.retired();
  return status;
}

}  // namespace perdure::engine
