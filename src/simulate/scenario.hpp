#pragma once
// Describes a simulation: one coordinated checkpoint of N equal nodes that share a store. Plain data.
#include <cstdint>
#include <functional>
#include <vector>

#include "device/description.hpp"
#include "placement/registry.hpp"

namespace perdure::simulate {

/// The order in which tiers are flushed.
enum class FlushOrder {
  waited_first,  ///< placement::next_to_flush, as in the engine
  arrival,       ///< as written: VeloC IPDPS'19, Algorithm 3
};

/// Writes to this tier fail, from the first time to the second (seconds).
struct Failure {
  std::size_t tier = 0;
  double from_s = 0;
  double until_s = 0;
};

struct Scenario {
  device::Node node;
  unsigned nodes = 1;
  unsigned writers = 16;                   ///< per node
  unsigned chunks = 4;                     ///< per writer
  std::uint64_t chunk_bytes = 64U << 20U;  ///< of each
  unsigned flush_threads = 16;             ///< per node; as many as there is work for, up to this
  FlushOrder order = FlushOrder::waited_first;
  /// The first checkpoint of a run: nothing is known of flushes yet. Otherwise the average starts with the store's rate
  /// for that many nodes.
  bool cold = false;
  double jitter_s = 0.002;  ///< writers begin within this time of each other, in seconds
  /// The most nodes that are simulated. They represent more nodes, each the same number of them: see cluster.hpp.
  unsigned max_simulated = 64;
  std::vector<Failure> failures;  ///< on every node
  std::uint64_t seed = 1;
};

struct Outcome {
  double local_phase_s = 0;           ///< until the last writer of the last node is done
  double flush_completion_s = 0;      ///< until the last chunk is in the store, from the same beginning
  std::vector<std::uint64_t> chunks;  ///< written per tier, all nodes together
  std::uint64_t waits = 0;            ///< requests for a slot that were not answered at once, all nodes together
  double waited_s = 0;                ///< sum of those waits
  std::uint64_t failed_writes = 0;
};

/// Returns the part of the application's time that a checkpoint every `interval_s` costs. The application stands still
/// during the local phase, and is slower by `interference` (0.1: takes 10 % longer) until everything is flushed.
double slow_down(const Outcome& outcome, double interval_s, double interference);

using Decide = std::function<placement::Decision(const placement::View&)>;

/// Returns the slots of a tier for chunks of this scenario: as many as fit, at most one for every chunk of the node.
std::uint64_t slots_of(const Scenario& scenario, const device::Device& tier);

/// For cache-only, the paper's ideal, makes the first tier hold everything. Leaves it as it is for other policies.
Scenario ideal_for(const Scenario& scenario, const placement::Policy& policy);

/// PERDURE_INVALID_ARGUMENT: figures are out of range. PERDURE_NO_SPACE: a chunk fits nowhere.
base::Status check(const Scenario& scenario);

}  // namespace perdure::simulate
