#include "driver.hpp"

namespace perdure::studies {
namespace {

class SimulatorDriver final : public Driver {
 public:
  const char* name() const override { return "simulator"; }
  bool takes(const simulate::Scenario&) const override { return true; }
  base::Result<simulate::Outcome> run(const simulate::Scenario& scenario, const placement::Policy& policy) override {
    return simulate::run(scenario, policy);
  }
};

}  // namespace

std::unique_ptr<Driver> simulator_driver() { return std::make_unique<SimulatorDriver>(); }

}  // namespace perdure::studies
