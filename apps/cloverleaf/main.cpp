// CloverLeaf 2D and 3D (https://uk-mac.github.io/CloverLeaf) on Perdure's mesh: the program, and its time steps.
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>

#include "command_line.hpp"
#include "hydro.hpp"
#include "mesh/mpi_ranks.hpp"
#include "report.hpp"
#include "state_hash.hpp"

namespace {

using namespace clover;

constexpr double kLeastTimestep = 1e-7;

struct Timestep {
  double dt;
  const char* control;
};

/// The first step is as long as the deck says, at most; then none is much longer than the one before.
Timestep timestep(Fields& fields, const Deck& deck, double before) {
  const auto limits = limits_of_step(fields);
  const auto least = std::min_element(limits.begin(), limits.end(),
                                      [](const Limit& a, const Limit& b) { return a.timestep < b.timestep; });
  Timestep made{least->timestep, least->reason};
  if (before * deck.timestep_rise < made.dt) made = {before * deck.timestep_rise, "rise"};
  if (deck.max_timestep < made.dt) made = {deck.max_timestep, "max"};
  // That is so for what is no number, too.
  if (!(made.dt >= kLeastTimestep)) throw std::runtime_error("the time step has become too small");
  return made;
}

void simulate(perdure::mesh::Mesh& mesh, const perdure::mesh::Block& block, const CommandLine& line, const Deck& deck,
              Checkpointing& checkpointing) {
  const double begin = MPI_Wtime();
  const Report report(mesh.ranks().rank() == 0);
  report.begin(deck, line.deck, mesh.ranks().size(), mesh.options().threads);
  Fields fields(mesh, block, deck);
  initialise(fields, deck);
  report.summary(0, 0, summarise(fields));
  checkpointing.protect(mesh);

  // What changes from step to step is in the fields, or follows from the deck, the number of steps, and from what
  // reductions said.
  const std::int64_t last = line.steps > 0 ? line.steps : deck.end_step;
  double time = 0, dt = deck.initial_timestep;
  bool ended = false;
  Summary summary;
  for (std::int64_t step = 1; !ended; ++step) {
    const Timestep next = timestep(fields, deck, dt);
    dt = next.dt;
    report.step(step, time, next.control, dt);
    advance(fields, dt, step % 2 == 1);
    time += dt;
    ended = step >= last || (line.steps == 0 && time + kSmall > deck.end_time);
    if (!ended && (deck.summary_frequency == 0 || step % deck.summary_frequency != 0)) continue;
    summary = summarise(fields);
    report.summary(step, time, summary);
  }
  checkpointing.report();
  // The solution is that of the deck's own end.
  if (deck.test_problem > 0 && line.steps == 0) report.verdict(deck.test_problem, summary.kinetic_energy);
  const std::uint64_t hash = state_hash(fields);
  report.end(summary.kinetic_energy, MPI_Wtime() - begin, hash);
}

/// The exit status: 2 where what the user wants cannot be done, which all ranks find alike.
int run(int argc, char** argv) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Checkpointing checkpointing;
  const auto [line, status] = parse(kProgram, argc, argv, rank == 0, checkpointing);
  if (!line) return status;
  std::optional<perdure::mesh::Mesh> mesh;
  const perdure::mesh::Block* block = nullptr;
  Deck deck;
  try {
    deck = read_deck(line->deck, kDimensions);
    mesh.emplace(perdure::mesh::mpi_ranks(MPI_COMM_WORLD), line->mesh);
    block = &mesh->block("domain", {deck.cells.begin(), deck.cells.begin() + kDimensions});
  } catch (const std::runtime_error& refused) {
    if (rank == 0) std::fprintf(stderr, "%s: %s\n", kProgram, refused.what());
    return 2;
  }
  simulate(*mesh, *block, *line, deck, checkpointing);
  mesh.reset();
  checkpointing.close();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int status = 1;
  try {
    status = run(argc, argv);
  } catch (const std::exception& failure) {  // perhaps on one rank only: the others must not wait for it
    std::fprintf(stderr, "%s: %s\n", kProgram, failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
