// Computes the Taylor-Green vortex: a smooth flow that becomes turbulent and decays, in a gas at low Mach number.
// Programs are compared by energy and enstrophy over time. At the beginning they are 1/8 and 3/8, and energy is lost at
// a rate of 2 * viscosity * enstrophy.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "flow.hpp"
#include "simulation.hpp"

namespace {

using namespace taylor_green;

struct Arguments {
  std::int64_t cells = 32, every = 20;
  double time = 10, courant = 0.5;
  std::optional<std::int64_t> steps;
  Gas gas;
};

class Simulation {
 public:
  Simulation(perdure::mesh::Mesh& mesh, const Arguments& arguments, Digits digits)
      : arguments_(arguments),
        mesh_(mesh),
        flow_(mesh, arguments.cells, arguments.gas),
        digits_(digits),
        speaks_(mesh.ranks().rank() == 0) {
    // Sound limits the time step; the last step ends at the requested time.
    const double most = arguments.courant * flow_.spacing() / (1 + 1 / arguments.gas.mach);
    steps_ = static_cast<std::int64_t>(std::ceil(arguments.time / most));
    time_step_ = steps_ > 0 ? arguments.time / static_cast<double>(steps_) : 0;
    if (arguments.steps) steps_ = std::min(steps_, *arguments.steps);
  }

  void begin() {
    if (speaks_)
      std::printf(
          "# %lld^3 cells, Reynolds number %g, Mach number %g, time step %.6g; %d rank(s) of %d thread(s)\n"
          "#   step            time        kinetic energy             enstrophy\n",
          static_cast<long long>(arguments_.cells), arguments_.gas.reynolds, arguments_.gas.mach, time_step_,
          mesh_.ranks().size(), mesh_.options().threads);
    flow_.initialise();
    tell();
  }
  bool goes_on() const { return step_ < steps_; }
  void advance() {
    flow_.advance(time_step_);
    ++step_;
    if (step_ % arguments_.every == 0 || !goes_on()) tell();
  }
  void end() {
    const std::string hash = state_hash(mesh_, flow_.state());
    if (speaks_) std::printf("final state hash: %s\n", hash.c_str());
  }
  std::vector<const mesh::Dataset*> fields() const { return {flow_.state().begin(), flow_.state().end()}; }

 private:
  void tell() {
    const Means means = flow_.means();
    if (!std::isfinite(means.kinetic_energy))
      throw WrongInput("the flow has become infinite: take more cells, or a smaller --courant");
    if (speaks_)
      std::printf("%8lld %15.8f %s %s\n", static_cast<long long>(step_), static_cast<double>(step_) * time_step_,
                  digits_.fixed(means.kinetic_energy, 21, 15).c_str(), digits_.fixed(means.enstrophy, 21, 15).c_str());
  }

  const Arguments arguments_;
  perdure::mesh::Mesh& mesh_;
  Flow flow_;
  Digits digits_;
  bool speaks_;
  std::int64_t steps_ = 0, step_ = 0;
  double time_step_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  const auto positive = [](const std::string& text) {
    return std::strtod(text.c_str(), nullptr) > 0 ? std::string() : text + " is not greater than 0";
  };
  CLI::App app{"The Taylor-Green vortex in a compressible gas.", "taylor_green"};
  app.add_option("--cells", arguments.cells, "Along each edge of the cube")->check(CLI::Range(4, 100000));
  app.add_option("--time", arguments.time, "Until when, in sizes of the vortex by its velocity")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--steps", arguments.steps, "Time steps at most")->check(CLI::NonNegativeNumber);
  app.add_option("--every", arguments.every, "Steps from line to line")->check(CLI::PositiveNumber);
  app.add_option("--reynolds", arguments.gas.reynolds, "Reynolds number; inf: without viscosity")->check(positive);
  app.add_option("--mach", arguments.gas.mach, "Mach number")->check(CLI::PositiveNumber);
  app.add_option("--courant", arguments.courant, "How far sound goes in a step, in cells")->check(CLI::PositiveNumber);
  CommonOptions common;
  common.add(app);
  return run_program(app, argc, argv, [&] { simulate<Simulation>(common, arguments); });
}
