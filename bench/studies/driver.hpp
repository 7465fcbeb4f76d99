#pragma once
// What runs a checkpoint: the simulator in virtual time, or the real engine on emulated devices in real time, with the
// same scenarios.
#include <memory>

#include "base/result.hpp"
#include "simulate/cluster.hpp"

namespace perdure::studies {

/// What a driver changed to be able to run a scenario; its outcome is in described seconds and chunks all the same.
struct Scale {
  double size = 1;  ///< sizes and throughputs were divided by this
  double time = 0;  ///< real seconds that a described second took; 0: virtual time
};

class Driver {
 public:
  virtual ~Driver() = default;
  /// Stands in every row: "simulator" is virtual time.
  virtual const char* name() const = 0;
  /// Cells that it does not take are left out.
  virtual bool takes(const simulate::Scenario& scenario) const = 0;
  virtual Scale scale() const { return {}; }
  /// A run that fails is a row that says why; otherwise it is the end of the study.
  virtual bool may_fail() const { return false; }
  virtual base::Result<simulate::Outcome> run(const simulate::Scenario& scenario, const placement::Policy& policy) = 0;
};

std::unique_ptr<Driver> simulator_driver();

}  // namespace perdure::studies
