// Runs pdrio: it measures checkpoints of growing size, call by call, beside plain files.
#include "base/json.hpp"
#include "pdrio.hpp"
#include "run.hpp"
#include "work_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::redundancy_bench;

void add_options(CLI::App& app, Pdrio& pdrio) {
  micro::add_common_options(app, pdrio.common);
  micro::add_directory_option(app, pdrio.common);
  app.add_option("--scheme", pdrio.job.scheme, "redundancy.scheme")->capture_default_str();
  app.add_option("--ranks-per-node", pdrio.job.ranks_per_node, "ranks of a simulated node")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--chunk", pdrio.job.chunk, "chunk_bytes")->capture_default_str();
  app.add_option("--engine", pdrio.job.engine, "engine.mode")
      ->check(CLI::IsMember({"embedded", "daemon"}))
      ->capture_default_str();
}

micro::Json settings_of(const Pdrio& pdrio, const micro::World& world, const std::string& directory) {
  return {{"ranks", world.size()},    {"ranks_per_node", pdrio.job.ranks_per_node}, {"scheme", pdrio.job.scheme},
          {"chunk", pdrio.job.chunk}, {"repetitions", pdrio.common.repetitions},    {"directory", directory}};
}

}  // namespace

int main(int argc, char** argv) {
  micro::Interruption interruption;
  const micro::World world(argc, argv);
  Pdrio pdrio;
  pdrio.common.min_bytes = 64U << 10;
  pdrio.common.max_bytes = 64U << 20;
  CLI::App app{"Every rank's data as checkpoints of Perdure, with retention and without, beside files of its own"};
  add_options(app, pdrio);
  if (const auto code = micro::parse(app, argc, argv, world.rank(), pdrio.common)) return *code;
  micro::Results results("pdrio", {});
  if (pdrio.common.min_bytes == 0)
    return finish(world, pdrio.common,
                  base::fail(PERDURE_INVALID_ARGUMENT, "--min 0", "nothing has no throughput", "begin with 1 byte"),
                  results);
  const auto directory = micro::WorkDirectory::make(pdrio.common.directory, "pdrio", interruption);
  if (!directory) return finish(world, pdrio.common, base::fail(directory.error()), results);
  results = micro::Results("pdrio", settings_of(pdrio, world, (*directory)->path()));
  return finish(world, pdrio.common, measure(pdrio, world, (*directory)->path(), results), results);
}
