#pragma once
// Holds the state that all flushes of an engine share.
#include <atomic>
#include <condition_variable>
#include <functional>

#include "engine/flush/flush_gate.hpp"
#include "engine/ledger/ledger.hpp"
#include "plan/backoff.hpp"
#include "store/owner.hpp"

namespace perdure::engine {

struct FlusherOptions {
  unsigned threads = 2;
  std::uint64_t max_bytes_per_s = 0;
  double max_slowdown = 0;  ///< how much slower the application may run during a flush, as a fraction; 0: no limit
  plan::Backoff backoff;
  /// Called when a slot that producers wait for becomes free before its version is stored, because the store is
  /// resumable. If empty, slots become free only with their version.
  std::function<void()> room = {};
  /// Called with the ledger held when this node's last segment of a version was noted as stored. May be empty.
  std::function<void(const segment::VersionId&)> all_stored = {};
  /// Called without the ledger before a version is dropped that was forgotten on purpose. May be empty.
  std::function<void(const segment::VersionId&)> forgotten = {};
  /// The owner to record at the store for a name that has none when a version of it is stored.
  std::optional<store::Owner> owner = {};
  std::uint64_t keep_in_tiers = 2;  ///< stored versions of a name that stay in tiers as a cache
};

struct FlushContext {
  FlushContext(Ledger& shared, FlusherOptions chosen)
      : ledger(shared), options(std::move(chosen)), gate(options.threads), pacing(options.max_bytes_per_s) {}
  /// Gives the gate the ledger's current state.
  void show(const NodeState& state) {
    const bool limited = options.max_slowdown > 0;
    gate.see({limited ? state.observed().interference.pressure(options.max_slowdown) : placement::Pressure{},
              state.captures.slots_wanted()});
  }

  Ledger& ledger;
  const FlusherOptions options;
  FlushGate gate;
  base::Guarded<plan::Pacing> pacing;
  std::condition_variable stopped;     ///< waited for with the pacing, by threads that used up their bandwidth for now
  std::condition_variable news;        ///< news of captures; waited for with the ledger
  std::atomic<bool> stopping = false;  ///< set with the ledger held
};

}  // namespace perdure::engine
