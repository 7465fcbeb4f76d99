#include "engine/ledger/flush_meter.hpp"

namespace perdure::engine {

// The clock is read with the lock held, so that times never go back.
FlushMeter::Started FlushMeter::begins(std::uint32_t tier) {
  const base::Lock lock(mutex_);
  slots_.count_reader(tier, true);
  return rate_.started(clock_());
}

void FlushMeter::reads(std::uint32_t tier, Started& started, bool reading) {
  const base::Lock lock(mutex_);
  if (reading != started.reading) slots_.count_reader(tier, reading);
  rate_.reads(clock_(), started, reading);
}

std::optional<FlushMeter::Observation> FlushMeter::finished(std::uint32_t tier, const Started& started, double bytes) {
  const base::Lock lock(mutex_);
  if (started.reading) slots_.count_reader(tier, false);
  return rate_.finished(clock_(), started, bytes);
}

void FlushMeter::abandoned(std::uint32_t tier, const Started& started) {
  const base::Lock lock(mutex_);
  if (started.reading) slots_.count_reader(tier, false);
  rate_.abandoned(clock_(), started);
}

std::uint64_t FlushMeter::running() const {
  const base::Lock lock(mutex_);
  return rate_.running();
}

double FlushMeter::plausible_bytes_per_s(double now_s) const {
  const base::Lock lock(mutex_);
  return rate_.plausible_bytes_per_s(now_s);
}

double FlushMeter::plausible_sustained_bytes_per_s(double now_s) const {
  const base::Lock lock(mutex_);
  return rate_.plausible_sustained_bytes_per_s(now_s);
}

double FlushMeter::deviation_bytes_per_s() const {
  const base::Lock lock(mutex_);
  return rate_.deviation_bytes_per_s();
}

double FlushMeter::next_end_s(double now_s) const {
  const base::Lock lock(mutex_);
  return rate_.next_end_s(now_s);
}

}  // namespace perdure::engine
