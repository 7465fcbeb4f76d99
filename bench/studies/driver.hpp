#pragma once
// What runs a checkpoint: now the simulator; the real engine on emulated devices can be another one, with the same
// scenarios.
#include <memory>

#include "base/result.hpp"
#include "simulate/cluster.hpp"

namespace perdure::studies {

class Driver {
 public:
  virtual ~Driver() = default;
  /// Stands in every row: "simulator" is virtual time.
  virtual const char* name() const = 0;
  /// The largest number of nodes it can run; cells with more are left out.
  virtual unsigned max_nodes() const = 0;
  virtual base::Result<simulate::Outcome> run(const simulate::Scenario& scenario, const placement::Policy& policy) = 0;
};

std::unique_ptr<Driver> simulator_driver();

}  // namespace perdure::studies
