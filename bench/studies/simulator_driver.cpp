#include "driver.hpp"

namespace perdure::studies {
namespace {

class SimulatorDriver final : public Driver {
 public:
  const char* name() const override { return "simulator"; }
  unsigned max_nodes() const override { return 1'000'000; }
  base::Result<simulate::Outcome> run(const simulate::Scenario& scenario, const placement::Policy& policy) override {
    return simulate::run(scenario, policy);
  }
};

}  // namespace

std::unique_ptr<Driver> simulator_driver() { return std::make_unique<SimulatorDriver>(); }

}  // namespace perdure::studies
