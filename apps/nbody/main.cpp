// Runs the DEEP-ER N-body mock-up: all pairs with softening, leap-frog (kick, drift, kick), bodies exchanged in a ring.
// It also keeps the trajectory of the last steps, which is most of a checkpoint. Bodies and trajectory are lists of
// which each rank has some rows, so that a run may resume on any number of ranks. With the same number, bits equal
// those of an undisturbed run. With another one, sums over bodies have another order and round differently.
#include <mpi.h>

#include <cstdio>
#include <string>

#include "app.h"
#include "perdure/perdure_mpi.hpp"
#include "ring.hpp"

template <>
struct perdure::ElementType<nbody::Body> {
  static constexpr const char* text = "{position:3f8,velocity:3f8,mass:f8}";
};

namespace {

struct Simulation {
  Simulation(app_t* application, std::size_t total, std::size_t trajectory_steps)
      : app(application), ring(total, app_rank(app), app_ranks(app)), slots(trajectory_steps) {
    const int ranks = app_ranks(app), rank = app_rank(app);
    const auto first = static_cast<std::size_t>(app_first(static_cast<long>(total), ranks, rank));
    const auto count = static_cast<std::size_t>(app_share(static_cast<long>(total), ranks, rank));
    const auto seed = static_cast<std::uint64_t>(app_integer(app, "seed", 1));
    bodies = nbody::initial_bodies(seed, total, first, count);
    acceleration = nbody::Vectors(count);
    trajectory.assign(slots * count * 3, 0.0);
    stored.resize(count);
    softening = app_number(app, "softening", 0.05);
    time_step = app_number(app, "time_step", 0.001);
    compute = app_integer(app, "compute", 1) != 0;
  }

  /// Without computation (D5.4, 4.2.1) the bodies exert no forces, and no block travels.
  void accelerate() {
    acceleration = nbody::Vectors(bodies.size());
    if (!compute) return;
    ring.travel(bodies.block, [&](const nbody::Block& sources, bool) {
      nbody::add_acceleration(bodies.block.position, sources, softening, acceleration);
    });
  }

  void advance() {
    nbody::kick(bodies.velocity, acceleration, 0.5 * time_step);
    nbody::drift(bodies.block.position, bodies.velocity, time_step);
    accelerate();
    nbody::kick(bodies.velocity, acceleration, 0.5 * time_step);
    remember();
    ++step;
  }

  void remember() {
    const std::size_t count = bodies.size();
    if (trajectory.empty()) return;
    double* to = trajectory.data() + (static_cast<std::size_t>(step) % slots) * 3;
    const auto& [x, y, z] = bodies.block.position;
    for (std::size_t i = 0; i < count; ++i, to += 3 * slots) to[0] = x[i], to[1] = y[i], to[2] = z[i];
  }

  /// Adds the parts of all ranks in rank order. [collective]
  double energy() {
    double mine = nbody::kinetic_energy(bodies);
    const auto subtract_potential = [&](const nbody::Block& sources, bool own) {
      mine -= 0.5 * nbody::pair_sum(bodies.block, sources, softening, own);
    };
    if (compute) ring.travel(bodies.block, subtract_potential);
    std::vector<double> parts(static_cast<std::size_t>(app_ranks(app)));
    MPI_Allgather(&mine, 1, MPI_DOUBLE, parts.data(), 1, MPI_DOUBLE, MPI_COMM_WORLD);
    double sum = 0;
    for (double part : parts) sum += part;
    return sum;
  }

  void hash() {
    for (auto* values : {&bodies.block.position.x, &bodies.block.position.y, &bodies.block.position.z,
                         &bodies.velocity.x, &bodies.velocity.y, &bodies.velocity.z, &bodies.block.mass, &trajectory}) {
      app_hash(app, values->data(), values->size() * sizeof(double));
    }
  }

  app_t* app;
  nbody::Ring ring;
  nbody::Bodies bodies;
  nbody::Vectors acceleration;      // follows from the positions: recomputed after a restart, not stored
  std::size_t slots;                // steps in the trajectory
  std::vector<double> trajectory;   // x, y and z by body and step
  std::vector<nbody::Body> stored;  // the bodies on their way into a checkpoint, or from one
  std::int64_t step = 0;
  double initial_energy = 0;
  double softening = 0, time_step = 0;
  bool compute = true;  ///< without it, only checkpoints take time
};

perdure::Status protect_all(perdure::Handle& handle, Simulation& sim) {
  if (auto done = handle.protect_list(0, {"bodies"}, sim.stored); !done) return done;
  const perdure::Array trajectory{"trajectory", perdure::indices(0, sim.slots, 3)};
  if (sim.slots > 0)
    if (auto done = handle.protect_list(1, trajectory, sim.trajectory); !done) return done;
  if (auto done = handle.protect_replicated(2, "step", sim.step); !done) return done;
  return handle.protect_replicated(3, "initial_energy", sim.initial_energy);
}

perdure_status code_of(const perdure::Status& status) { return status ? PERDURE_OK : status.error().code; }

perdure::Handle open_and_restore(app_t* app, Simulation& sim) {
  auto opened = perdure::open_mpi(MPI_COMM_WORLD);
  if (!opened) {
    std::fprintf(stderr, "nbody: cannot open Perdure: %s\n", opened.error().text.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  perdure::Handle handle = std::move(opened).value();
  app_require(app, handle.native(), code_of(protect_all(handle, sim)), "cannot protect");
  const auto restored = handle.restore("nbody");
  app_restored(app, handle.native(), restored ? PERDURE_OK : restored.error().code);
  if (restored) nbody::take(sim.stored, sim.bodies);
  return handle;
}

void checkpoint(app_t* app, perdure::Handle& handle, Simulation& sim) {
  const double begin = MPI_Wtime();
  nbody::list(sim.bodies, sim.stored);
  const auto done = handle.checkpoint("nbody", sim.step);
  app_checkpointed(app, handle.native(), code_of(done), static_cast<long>(sim.step), MPI_Wtime() - begin);
}

void simulate(app_t* app) {
  const long steps = app_integer(app, "steps", 100);
  Simulation sim(app, static_cast<std::size_t>(app_integer(app, "bodies", 1024)),
                 static_cast<std::size_t>(app_integer(app, "trajectory_steps", 0)));
  perdure::Handle handle;
  if (app_checkpoints(app)) handle = open_and_restore(app, sim);
  if (sim.step == 0) sim.initial_energy = sim.energy();
  if (app_rank(app) == 0) std::printf("energy at the start: %.15e\n", sim.initial_energy);
  sim.accelerate();
  while (sim.step < steps) {
    app_step(app, static_cast<long>(sim.step), steps);
    sim.advance();
    if (app_checkpoint_due(app, static_cast<long>(sim.step))) checkpoint(app, handle, sim);
  }
  const double final_energy = sim.energy();
  if (app_rank(app) == 0) {
    std::printf("energy at the end: %.15e (drift %.3e)\n", final_energy, final_energy / sim.initial_energy - 1);
  }
  sim.hash();
  app_end(app, handle.native());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  simulate(app_begin("nbody", argc, argv));
  MPI_Finalize();
  return 0;
}
