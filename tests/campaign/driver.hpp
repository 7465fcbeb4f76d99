#pragma once
// Carries out a scenario, launch by launch: on the built library and programs, or in a test's imagination.
#include <memory>
#include <string>

#include "campaign/model.hpp"

namespace perdure::campaign {

class Driver {
 public:
  virtual ~Driver() = default;
  /// Runs this launch of the scenario to its end.
  virtual Told launch(const Scenario& scenario, std::size_t number) = 0;
  /// What the scenario says that happens when that launch has ended.
  virtual Destroyed destroy(const Scenario& scenario, std::size_t number) = 0;
};

/// Carries out all of it, as far as nothing is violated; what was violated then. `tell`: what the launches were told, a
/// line for each.
std::vector<Violation> carry_out(const Scenario& scenario, Driver& driver, std::string* tell = nullptr);

/// What a driver can be made to lie about, to see whether anybody notices. `element`: one element of arrays is that of
/// another step.
enum class Lie { none, older, flipped, not_found, element };
Lie lie_from(const std::string& name);

/// Ranks are processes, nodes are simulated, all of it in `directory`, which is the caller's. Of the lies it tells
/// `element`, from the second launch on.
std::unique_ptr<Driver> real_driver(const std::string& directory, Lie lie = Lie::none);
/// Ends what real_driver() has started in `directory` and has not ended.
void end_everything_in(const std::string& directory);

/// Keeps every promise: whatever was captured is there for ever.
std::unique_ptr<Driver> ideal_driver();

/// Answers as the other does, but for the last restore that succeeds in a launch that is not the first.
std::unique_ptr<Driver> lying_driver(std::unique_ptr<Driver> honest, Lie lie);

}  // namespace perdure::campaign
