// Runs TeaLeaf: linear heat conduction on a plane, implicit in time, with one of four iterative solvers. The mesh
// library divides it among ranks and threads; loops declare what they read and write.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <vector>

#include "equation.hpp"
#include "simulation.hpp"
#include "solver.hpp"

namespace {

using namespace tealeaf;

struct Arguments {
  std::string deck;
  std::optional<std::int64_t> steps;
};

Deck read_deck(const Arguments& arguments) {
  std::ifstream file(arguments.deck);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.good() && text.empty()) throw WrongInput(arguments.deck + ": it cannot be read");
  auto deck = parse_deck(text);
  if (!deck) throw WrongInput(arguments.deck + ": " + deck.error());
  if (arguments.steps) deck->end_step = *arguments.steps;
  return *deck;
}

/// U at the end of the benchmarks' ten steps, as published with TeaLeaf.
double known_u(std::int64_t test_problem) {
  constexpr double kKnown[] = {157.55084183279294, 106.27221178646569, 99.955877498324000,
                               97.277332050749976, 95.462351583362249, 95.174738768320850};
  return test_problem >= 1 && test_problem <= 6 ? kKnown[test_problem - 1] : 0;
}

class Simulation {
 public:
  Simulation(perdure::mesh::Mesh& mesh, const Deck& deck, Digits digits)
      : deck_(deck),
        mesh_(mesh),
        equation_(mesh, deck),
        solver_(equation_),
        digits_(digits),
        speaks_(mesh.ranks().rank() == 0) {}

  void begin() {
    if (speaks_)
      std::printf(" TeaLeaf: %lld x %lld cells on %d rank(s) of %d thread(s)\n\n", whole(deck_.x_cells),
                  whole(deck_.y_cells), mesh_.ranks().size(), mesh_.options().threads);
    equation_.initialise();
    summarise();
  }
  bool goes_on() const { return step_ < deck_.end_step && time() + 1e-16 <= deck_.end_time; }
  void advance() {
    equation_.assemble();
    const Solved solved = solver_.solve();
    equation_.finish();
    ++step_;
    tell(solved);
    if (deck_.check_result) look_again();
    if (step_ % deck_.summary_frequency == 0 || !goes_on()) summarise();
  }
  void end() {
    if (deck_.test_problem > 0 && speaks_) judge();
    Field* const state[] = {&equation_.energy1};
    const std::string hash = state_hash(mesh_, state);
    if (speaks_) std::printf("final state hash: %s\n", hash.c_str());
  }
  std::vector<const mesh::Dataset*> fields() const { return {&equation_.density, &equation_.energy1, &equation_.u}; }

 private:
  static long long whole(std::int64_t value) { return static_cast<long long>(value); }
  double time() const { return static_cast<double>(step_) * deck_.time_step; }

  void tell(const Solved& solved) {
    if (!speaks_) return;
    std::printf(" Step %7lld time %11.7f timestep %11.4E\n", whole(step_), time(), deck_.time_step);
    std::printf(" Conduction error %16.7E\n", solved.error);
    std::printf(" Iteration count %8lld", whole(solved.iterations));
    if (solved.inner_iterations > 0) std::printf(" (inner iterations %lld)", whole(solved.inner_iterations));
    std::printf("%s\n", solved.converged ? "" : ", not converged");
  }
  void look_again() {
    const double error = std::sqrt(std::abs(equation_.residual()));
    if (speaks_) std::printf(" Exact error      %16.7E\n", error);
  }
  void summarise() {
    const Summary all = equation_.summary();
    u_ = all.u;
    if (!speaks_) return;
    std::printf("\n Time %22.15E\n", time());
    std::printf(" %14s", "");
    for (const char* name : {"Volume", "Mass", "Density", "Energy", "U"}) std::printf("%*s", digits_.width(23), name);
    std::printf("\n step: %8lld", whole(step_));
    for (const double value : {all.volume, all.mass, all.mass / all.volume, all.energy, all.u})
      std::printf("%s", digits_.scientific(value, 23, 15).c_str());
    std::printf("\n\n");
  }
  void judge() const {
    const double known = known_u(deck_.test_problem);
    if (known == 0)
      return static_cast<void>(std::printf(" Test problem %lld: its result is not known\n", whole(deck_.test_problem)));
    const double percent = std::abs(100 * (u_ / known) - 100);
    std::printf(" Test problem %lld is within %16.7E%% of the expected solution\n", whole(deck_.test_problem), percent);
    std::printf(" This test is considered %s\n", percent < 0.001 ? "PASSED" : "NOT PASSED");
  }

  const Deck deck_;
  perdure::mesh::Mesh& mesh_;
  Equation equation_;
  Solver solver_;
  Digits digits_;
  bool speaks_;
  std::int64_t step_ = 0;
  double u_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"Linear heat conduction on a plane, implicit in time.", "tealeaf"};
  app.add_option("deck", arguments.deck, "Input: *tea ... *endtea")->required();
  app.add_option("--steps", arguments.steps, "Time steps, instead of the deck's end_step")
      ->check(CLI::NonNegativeNumber);
  CommonOptions common;
  common.add(app);
  return run_program(app, argc, argv, [&] { simulate<Simulation>(common, read_deck(arguments)); });
}
