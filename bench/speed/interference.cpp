// Measures how much a flush to the store slows a program that computes meanwhile. The program is a Jacobi stencil, on a
// grid that exceeds the last cache and on one that fits. To compare ways of writing, alternate runs
// (bench/speed/run --only interference).
//   mpirun -n 2 build/release/bench/interference --direct true [--max-slowdown 0.1] [--bytes 256MiB] [--store
//   DIRECTORY]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "disturbed.hpp"
#include "statistics.hpp"
#include "together.hpp"

namespace {

using namespace perdure::bench;

void print_table(const nlohmann::json& result) {
  std::printf("store.direct = %s, flush.max_slowdown = %g; of %d ranks, medians of %d checkpoints\n",
              result["direct"].get<bool>() ? "true" : "false", result["max_slowdown"].get<double>(),
              result["ranks"].get<int>(), result["turns"].get<int>());
  for (const auto& cell : result["cells"]) {
    const auto disturbed = cell["disturbed_s"].get<std::vector<double>>();
    const double step = median(cell["undisturbed_s"].get<std::vector<double>>());
    std::printf("  %-7s %8.3f ms a step, %8.3f beside a flush: %5.2f times; a flush %7.1f ms, lost %7.1f ms\n",
                cell["grid"].get<std::string>().c_str(), step * 1e3, median(disturbed) * 1e3,
                step > 0 ? median(disturbed) / step : 0, median(cell["flush_s"].get<std::vector<double>>()) * 1e3,
                median(cell["lost_s"].get<std::vector<double>>()) * 1e3);
  }
}

void add_options(CLI::App& app, Interference& settings, bool& json) {
  app.add_option("--bytes", settings.bytes, "of a checkpoint, of all ranks")->transform(CLI::AsSizeValue(false));
  app.add_option("--memory-grid", settings.memory_grid, "bytes of the grid that is beyond the last cache")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--cache-grid", settings.cache_grid, "bytes of the grid that is within it")
      ->transform(CLI::AsSizeValue(false));
  app.add_option("--turns", settings.turns, "counted checkpoints")->check(CLI::Range(1, 1000));
  app.add_option("--before", settings.before,
                 "checkpoints before them, which warm up; a limit is learnt from some fourteen")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seconds", settings.seconds, "of computing between checkpoints, undisturbed")
      ->check(CLI::Range(0.001, 60.0));
  app.add_option("--batch", settings.batch_s, "seconds of steps between looks at the flush")
      ->check(CLI::Range(0.00001, 1.0));
  app.add_option("--longest", settings.longest_s, "seconds of computing beside one flush")
      ->check(CLI::Range(0.0, 600.0));
  app.add_option("--direct", settings.direct, "store.direct");
  app.add_option("--max-slowdown", settings.max_slowdown, "flush.max_slowdown")->check(CLI::Range(0.0, 10.0));
  app.add_option("--set", settings.more, "further options, key=value separated by semicolons");
  app.add_option("--store", settings.store, "where a temporary store is made; by default the working directory");
  app.add_flag("--json", json, "print one JSON object");
}

}  // namespace

int main(int argc, char** argv) {
  const perdure::micro::World world(argc, argv);
  CLI::App app{"What a flush to the store costs a program that computes meanwhile"};
  Interference settings;
  bool json = false;
  add_options(app, settings, json);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return world.rank() == 0 ? app.exit(error) : 0;
  }
  std::string store = (settings.store.empty() ? "." : settings.store) + "/perdure-interference-XXXXXX";
  if (world.rank() == 0 && ::mkdtemp(store.data()) == nullptr) {
    std::fprintf(stderr, "interference: cannot make a directory for the store: %s\n", store.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  settings.store = broadcast(store);
  const nlohmann::json result = disturbed(settings, world);
  std::error_code ignored;
  if (world.rank() == 0) std::filesystem::remove_all(settings.store, ignored);
  if (world.rank() == 0 && json) std::printf("%s\n", result.dump(2).c_str());
  if (world.rank() == 0 && !json) print_table(result);
  return 0;
}
