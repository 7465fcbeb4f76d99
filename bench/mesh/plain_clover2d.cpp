// Runs CloverLeaf 2D without the mesh library: with plain arrays, OpenMP and MPI. Its kernels, their order and the
// computed bits are those of apps/cloverleaf, the program that it is compared with. It exchanges halos where the
// original does.
#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "plain_gas.hpp"

namespace perdure::plain {

std::array<double, 5> summarise(Gas& gas) {
  equation_of_state(gas, gas.density0, gas.energy0);
  double volumes = 0, masses = 0, internals = 0, kinetics = 0, pressures = 0;
#pragma omp parallel for schedule(static) num_threads(gas.threads) if (gas.threads > 1) \
    reduction(+ : volumes, masses, internals, kinetics, pressures)
  for (std::int64_t y = 0; y < gas.ny; ++y) {
    const double *volume = gas.volume.row(y), *rho = gas.density0.row(y), *e = gas.energy0.row(y),
                 *p = gas.pressure.row(y);
    const double *u = gas.velocity0[0].row(y), *uu = gas.velocity0[0].row(y + 1);
    const double *v = gas.velocity0[1].row(y), *vv = gas.velocity0[1].row(y + 1);
    for (std::int64_t x = 0; x < gas.nx; ++x) {
      const double speed2 = 0.25 * (u[x] * u[x] + v[x] * v[x]) + 0.25 * (u[x + 1] * u[x + 1] + v[x + 1] * v[x + 1]) +
                            0.25 * (uu[x] * uu[x] + vv[x] * vv[x]) +
                            0.25 * (uu[x + 1] * uu[x + 1] + vv[x + 1] * vv[x + 1]);
      const double mass = volume[x] * rho[x];
      volumes += volume[x];
      masses += mass;
      internals += mass * e[x];
      kinetics += mass * 0.5 * speed2;
      pressures += volume[x] * p[x];
    }
  }
  std::array<double, 5> all{volumes, masses, internals, kinetics, pressures};
  MPI_Allreduce(MPI_IN_PLACE, all.data(), 5, MPI_DOUBLE, MPI_SUM, gas.part.communicator);
  return all;
}

namespace {

std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ value >> 30U) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ value >> 27U) * 0x94d049bb133111ebULL;
  return value ^ value >> 31U;
}

/// Nodes that two parts share count once.
std::uint64_t hash_of(const Gas& gas, const Array& array, std::uint64_t number) {
  const auto end = [&](std::size_t axis) {
    return gas.part.cells[axis] + (gas.part.neighbour[axis][1] < 0 ? array.more[axis] : 0);
  };
  std::uint64_t sum = 0;
  for (std::int64_t y = 0; y < end(1); ++y)
    for (std::int64_t x = 0; x < end(0); ++x) {
      std::uint64_t hash = number;
      for (const std::int64_t at : {gas.part.first[0] + x, gas.part.first[1] + y, std::int64_t{0}})
        hash = mixed(hash + static_cast<std::uint64_t>(at));
      sum += mixed(hash ^ std::bit_cast<std::uint64_t>(array.row(y)[x]));
    }
  return sum;
}

}  // namespace

std::uint64_t state_hash(const Gas& gas) {
  std::uint64_t sum = 0, number = 0;
  for (const Array* array : {&gas.density0, &gas.energy0, &gas.velocity0[0], &gas.velocity0[1]})
    sum += hash_of(gas, *array, mixed(++number));
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, gas.part.communicator);
  return sum;
}

namespace {

double timestep(Gas& gas, const clover::Deck& deck, double before) {
  equation_of_state(gas, gas.density0, gas.energy0);
  update(gas,
         {{&gas.pressure},
          {&gas.energy0},
          {&gas.density0},
          {&gas.velocity0[0], Halo::Kind::node, 0},
          {&gas.velocity0[1], Halo::Kind::node, 1}},
         1);
  artificial_viscosity(gas);
  update(gas, {{&gas.viscosity}}, 1);
  const auto all = limits(gas);
  return std::min({*std::min_element(all.begin(), all.end()), before * deck.timestep_rise, deck.max_timestep});
}

void advance(Gas& gas, double dt, bool x_first) {
  predict(gas, dt);
  equation_of_state(gas, gas.density1, gas.energy1);
  update(gas, {{&gas.pressure}}, 1);
  copy(gas, gas.density0, gas.density1);
  copy(gas, gas.energy0, gas.energy1);
  accelerate(gas, dt);
  correct(gas, dt);
  volume_fluxes(gas, dt);
  advect(gas, x_first);
  copy(gas, gas.density1, gas.density0);
  copy(gas, gas.energy1, gas.energy0);
  for (std::size_t axis = 0; axis < 2; ++axis) copy(gas, gas.velocity1[axis], gas.velocity0[axis]);
}

void simulate(const Part& part, const clover::Deck& deck, std::int64_t steps, int threads) {
  const double begin = MPI_Wtime();
  Gas gas(part, deck, threads);
  initialise(gas, deck);
  auto summary = summarise(gas);
  double time = 0, dt = deck.initial_timestep;
  bool ended = false;
  for (std::int64_t step = 1; !ended; ++step) {
    dt = timestep(gas, deck, dt);
    if (part.rank == 0) std::printf(" Step %7" PRId64 " time %11.7f timestep  %9.2E\n", step, time, dt);
    advance(gas, dt, step % 2 == 1);
    time += dt;
    ended = step >= (steps > 0 ? steps : deck.end_step) ||
            (steps == 0 && time + static_cast<double>(1.0e-16F) > deck.end_time);
    if (ended || (deck.summary_frequency > 0 && step % deck.summary_frequency == 0)) summary = summarise(gas);
  }
  const std::uint64_t hash = state_hash(gas);
  if (part.rank == 0)
    std::printf(" Wall clock %.3f s\nkinetic energy: %.15g\nfinal state hash: %016" PRIx64 "\n", MPI_Wtime() - begin,
                summary[3], hash);
}

int run(int argc, char** argv) {
  std::int64_t steps = 0;
  int threads = 1;
  for (int i = 2; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--steps") == 0) steps = std::stoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--threads") == 0) threads = std::stoi(argv[i + 1]);
  }
  if (argc < 2 || argc % 2 != 0 || steps < 0 || threads < 1) {
    std::fprintf(stderr, "plain_clover2d DECK [--steps N] [--threads N]\n");
    return 2;
  }
  const clover::Deck deck = clover::read_deck(argv[1], 2);
  Part part;
  if (!divide(MPI_COMM_WORLD, deck.cells[0], deck.cells[1], part)) {
    std::fprintf(stderr, "plain_clover2d: there are too few cells for so many ranks\n");
    return 2;
  }
  simulate(part, deck, steps, threads);
  return 0;
}

}  // namespace
}  // namespace perdure::plain

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  int status = 1;
  try {
    status = perdure::plain::run(argc, argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "plain_clover2d: %s\n", failure.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return status;
}
