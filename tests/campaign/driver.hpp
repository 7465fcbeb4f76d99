#pragma once
// Defines drivers, which carry out a scenario launch by launch: on the real library and programs, or in a test's
// imagination.
#include <memory>
#include <string>

#include "campaign/model.hpp"

namespace perdure::campaign {

class Driver {
 public:
  virtual ~Driver() = default;
  /// Runs this launch of the scenario to its end.
  virtual Told launch(const Scenario& scenario, std::size_t number) = 0;
  /// Destroys what the scenario names for the time after that launch.
  virtual Destroyed destroy(const Scenario& scenario, std::size_t number) = 0;
};

/// Carries out the scenario until a rule is violated, and returns the violations. `tell` receives a line of results for
/// each launch.
std::vector<Violation> carry_out(const Scenario& scenario, Driver& driver, std::string* tell = nullptr);

/// Lies that a driver can tell, to test whether the model notices. `element`: one array element is of another step.
enum class Lie { none, older, flipped, not_found, element };
Lie lie_from(const std::string& name);

/// Ranks are processes and nodes are simulated, all in `directory`, which the caller owns. The only lie that it can
/// tell is `element`, from the second launch on.
std::unique_ptr<Driver> real_driver(const std::string& directory, Lie lie = Lie::none);
/// Ends all processes that real_driver() started in `directory` and did not end.
void end_everything_in(const std::string& directory);

/// Returns a driver that keeps every promise: each captured version exists for ever.
std::unique_ptr<Driver> ideal_driver();

/// Returns a driver that answers as `honest` does, except for the last successful restore of a launch after the first.
std::unique_ptr<Driver> lying_driver(std::unique_ptr<Driver> honest, Lie lie);

}  // namespace perdure::campaign
