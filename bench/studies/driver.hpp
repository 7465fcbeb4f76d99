#pragma once
// Defines drivers, which run a checkpoint of a scenario: the simulator in virtual time, or the real engine on emulated
// devices in real time.
#include <memory>

#include "base/result.hpp"
#include "simulate/cluster.hpp"

namespace perdure::studies {

/// How a driver scaled a scenario to run it; its outcome is in described seconds and chunks all the same.
struct Scale {
  double size = 1;  ///< divisor of sizes and throughputs
  double time = 0;  ///< real seconds per described second; 0: virtual time
};

class Driver {
 public:
  virtual ~Driver() = default;
  /// The name in every row; "simulator" means virtual time.
  virtual const char* name() const = 0;
  /// Cells that it does not accept are left out.
  virtual bool takes(const simulate::Scenario& scenario) const = 0;
  virtual Scale scale() const { return {}; }
  /// If true, a failed run is a row with the error; otherwise it ends the study.
  virtual bool may_fail() const { return false; }
  virtual base::Result<simulate::Outcome> run(const simulate::Scenario& scenario, const placement::Policy& policy) = 0;
};

std::unique_ptr<Driver> simulator_driver();

}  // namespace perdure::studies
