#include "stencil.hpp"

#include "base/json.hpp"
#include "output.hpp"
#include "together.hpp"

namespace perdure::elastic_bench {
namespace {

base::Status run_steps(const Stencil& settings, Lattice& lattice, Output& output, double& in_output) {
  for (int step = 1; step <= settings.steps; ++step) {
    lattice.step();
    if (step % settings.every != 0 || step == settings.steps) continue;
    const double begin = bench::now_s();
    PERDURE_CHECK(output.write(step));
    in_output += bench::now_s() - begin;
  }
  return {};
}

base::Status check_output(const Stencil& settings, Lattice& lattice, Output& output) {
  if (!output.keeps()) return {};
  PERDURE_CHECK(output.write(settings.steps));
  PERDURE_CHECK(output.finish());
  const std::vector<double> expected = lattice.values();
  const std::uint64_t across = lattice.stride(), columns = lattice.mine().extent(1);
  const auto in_row = [&](std::uint64_t row, auto use) {
    double* values = lattice.first() + row * across;
    const double* wanted = expected.data() + (row + Lattice::kGhosts) * across + Lattice::kGhosts;
    for (std::uint64_t i = 0; i < columns; ++i) use(values[i], wanted[i]);
  };
  for (std::uint64_t row = 0; row < lattice.mine().extent(0); ++row)
    in_row(row, [](double& value, double) { value = -1; });
  PERDURE_CHECK(output.read(settings.steps));
  bool same = true;
  for (std::uint64_t row = 0; row < lattice.mine().extent(0); ++row)
    in_row(row, [&](double value, double wanted) { same = same && value == wanted; });
  return micro::agree(same ? base::Status{}
                           : base::fail(PERDURE_CORRUPT, settings.output, "it is not what was written"));
}

}  // namespace

base::Result<base::Json> stencil(const Stencil& settings, const micro::World& world) {
  if (settings.every % 2 != 0 || settings.steps % settings.every != 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, "stencil",
                      "--every must be even, since the field is in the same memory after even steps only, and --steps "
                      "a multiple of it");
  Lattice lattice(settings.rows, settings.columns, world);
  PERDURE_TRY(const auto output, make_output(settings.output, lattice, settings.places));
  // Files, slots and buffers exist before the time begins, as they do for all but the first output of a long run.
  lattice.step();
  lattice.step();
  PERDURE_CHECK(output->write(0));
  PERDURE_CHECK(output->finish());
  double in_output = 0;
  base::Status status;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = bench::now_s();
  status = run_steps(settings, lattice, *output, in_output);
  MPI_Barrier(MPI_COMM_WORLD);
  const double steps = bench::slowest(bench::now_s() - begin);
  PERDURE_CHECK(status);
  PERDURE_CHECK(output->finish());
  const double stored = bench::slowest(bench::now_s() - begin);
  PERDURE_CHECK(check_output(settings, lattice, *output));
  return base::Json{{"output", settings.output},
                    {"ranks", world.size()},
                    {"rows", settings.rows},
                    {"columns", settings.columns},
                    {"steps", settings.steps},
                    {"outputs", settings.steps / settings.every - 1},
                    {"steps_s", steps},
                    {"stored_s", stored},
                    {"in_output_s", bench::slowest(in_output)}};
}

}  // namespace perdure::elastic_bench
