#pragma once
// Measures what flushes do at the moment, reading a slot or writing to the store, and at which rate. A flush changes
// between the two with every block. So the meter has its own lock, and the ledger's is not needed each time.
#include <functional>
#include <optional>

#include "base/mutex.hpp"
#include "engine/ledger/slots.hpp"
#include "metrics/flush_rate.hpp"

namespace perdure::engine {

/// Thread-safe, with and without the ledger held.
class FlushMeter {
 public:
  using Started = metrics::FlushRate::Started;
  using Observation = metrics::FlushRate::Observation;

  /// `slots` outlives it; the meter only counts readers of tiers there. `clock` returns seconds, and any thread may
  /// call it.
  FlushMeter(Slots& slots, std::function<double()> clock) : slots_(slots), clock_(std::move(clock)) {}
  /// A flush begins to read a slot of this tier. Pass the result to finished() or abandoned().
  Started begins(std::uint32_t tier);
  /// The flush reads its slot from now on, or else it writes to the store.
  void reads(std::uint32_t tier, Started& started, bool reading);
  /// Ends a flush of `bytes` and returns what it shows about the rate; nullopt if it took no time or moved no bytes.
  std::optional<Observation> finished(std::uint32_t tier, const Started& started, double bytes);
  /// The flush failed.
  void abandoned(std::uint32_t tier, const Started& started);

  // ---- as in metrics::FlushRate
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
