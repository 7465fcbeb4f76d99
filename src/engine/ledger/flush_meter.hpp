#pragma once
// What flushes do right now, reading a slot or writing to the store, and how fast the node is at it. It has a lock of
// its own: a flush that changes between the two with every block must not take the ledger's each time.
#include <functional>
#include <optional>

#include "base/mutex.hpp"
#include "engine/ledger/slots.hpp"
#include "metrics/flush_rate.hpp"

namespace perdure::engine {

/// Thread-safe, with and without the ledger.
class FlushMeter {
 public:
  using Started = metrics::FlushRate::Started;
  using Observation = metrics::FlushRate::Observation;

  /// `slots` outlives it. Of them it only counts the readers of tiers. `clock`: in seconds, for any thread.
  FlushMeter(Slots& slots, std::function<double()> clock) : slots_(slots), clock_(std::move(clock)) {}
  /// A flush begins to read a slot of this tier; give what this returns to finished() or abandoned().
  Started begins(std::uint32_t tier);
  /// It reads its slot, or it writes to the store.
  void reads(std::uint32_t tier, Started& started, bool reading);
  /// What the end of a flush of so many bytes shows; nothing when it took no time, or moved nothing.
  std::optional<Observation> finished(std::uint32_t tier, const Started& started, double bytes);
  /// It failed.
  void abandoned(std::uint32_t tier, const Started& started);

  // ---- as metrics::FlushRate
  std::uint64_t running() const;
  double plausible_bytes_per_s(double now_s) const;
  double plausible_sustained_bytes_per_s(double now_s) const;
  double deviation_bytes_per_s() const;
  double next_end_s(double now_s) const;

 private:
  Slots& slots_;
  std::function<double()> clock_;
  mutable base::Mutex mutex_;
  metrics::FlushRate rate_ PERDURE_GUARDED_BY(mutex_);
};

}  // namespace perdure::engine
