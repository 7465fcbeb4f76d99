// Runs CloverLeaf 2D and 3D (https://uk-mac.github.io/CloverLeaf) on Perdure's mesh: the program, and its time steps.
#include <algorithm>
#include <vector>

#include "hydro.hpp"
#include "report.hpp"
#include "simulation.hpp"

namespace {

using namespace clover;

constexpr double kLeastTimestep = 1e-7;

struct Arguments {
  std::string deck;
  std::int64_t steps = 0;  ///< 0: as the deck says
};

struct Timestep {
  double dt;
  const char* control;
};

class Simulation {
 public:
  Simulation(perdure::mesh::Mesh& mesh, const Arguments& arguments, Digits digits)
      : arguments_(arguments),
        deck_(read_deck(arguments.deck, kDimensions)),
        fields_(mesh, mesh.block("domain", {deck_.cells.begin(), deck_.cells.begin() + kDimensions}), deck_),
        report_(mesh.ranks().rank() == 0, digits),
        dt_(deck_.initial_timestep) {}

  void begin() {
    report_.begin(deck_, arguments_.deck, fields_.mesh.ranks().size(), fields_.mesh.options().threads);
    initialise(fields_, deck_);
    report_.summary(0, 0, summarise(fields_));
  }
  bool goes_on() const { return !ended_; }
  void advance() {
    const Timestep next = timestep();
    dt_ = next.dt;
    report_.step(++step_, time_, next.control, dt_);
    clover::advance(fields_, dt_, step_ % 2 == 1);
    time_ += dt_;
    const bool shorter = arguments_.steps > 0;
    ended_ = step_ >= (shorter ? arguments_.steps : deck_.end_step) || (!shorter && time_ + kSmall > deck_.end_time);
    if (!ended_ && (deck_.summary_frequency == 0 || step_ % deck_.summary_frequency != 0)) return;
    summary_ = summarise(fields_);
    report_.summary(step_, time_, summary_);
  }
  void end() {
    // The known solution is for the deck's own end.
    if (deck_.test_problem > 0 && arguments_.steps == 0) report_.verdict(deck_.test_problem, summary_.kinetic_energy);
    std::vector<Field*> state{&fields_.density0, &fields_.energy0};
    state.insert(state.end(), fields_.velocity0.begin(), fields_.velocity0.begin() + kDimensions);
    const std::string hash = state_hash(fields_.mesh, state);
    report_.end(summary_.kinetic_energy, MPI_Wtime() - began_s_, hash);
  }
  std::vector<const perdure::mesh::Dataset*> fields() const {
    std::vector<const perdure::mesh::Dataset*> all{&fields_.density0, &fields_.energy0, &fields_.pressure};
    all.insert(all.end(), fields_.velocity0.begin(), fields_.velocity0.begin() + kDimensions);
    return all;
  }

 private:
  /// The first step is at most as long as the deck says; later steps are not much longer than the one before.
  Timestep timestep() {
    const auto limits = limits_of_step(fields_);
    const auto least = std::min_element(limits.begin(), limits.end(),
                                        [](const Limit& a, const Limit& b) { return a.timestep < b.timestep; });
    Timestep made{least->timestep, least->reason};
    if (dt_ * deck_.timestep_rise < made.dt) made = {dt_ * deck_.timestep_rise, "rise"};
    if (deck_.max_timestep < made.dt) made = {deck_.max_timestep, "max"};
    // The condition also catches NaN.
    if (!(made.dt >= kLeastTimestep)) throw std::runtime_error("the time step has become too small");
    return made;
  }

  const Arguments arguments_;
  const Deck deck_;
  Fields fields_;
  const Report report_;
  const double began_s_ = MPI_Wtime();
  std::int64_t step_ = 0;
  double time_ = 0, dt_;
  bool ended_ = false;
  Summary summary_;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"CloverLeaf: compressible gas in a box, by explicit time steps, on a structured mesh.", kProgram};
  app.add_option("deck", arguments.deck, "Input: *clover ... *endclover")->required();
  app.add_option("--steps", arguments.steps, "Time steps, instead of as many as the deck says")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  CommonOptions common;
  common.add(app);
  return run_program(app, argc, argv, [&] { simulate<Simulation>(common, arguments); });
}
