// Runs the DEEP-ER benchmark cpex (D5.4, 3.2.2): checkpoints exchanged between buddy nodes.
#include "base/json.hpp"
#include "exchange_sweep.hpp"
#include "work_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::micro;

void add_options(CLI::App& app, ExchangeSweep& sweep) {
  add_common_options(app, sweep.common);
  add_directory_option(app, sweep.common);
  for (const ExchangeMode mode : kExchangeModes) sweep.modes.emplace_back(name_of(mode));
  app.add_option("--modes", sweep.modes,
                 "partner (write, read, exchange, write), sequential, interleaved by chunks, overlapped by a thread")
      ->delimiter(',')
      ->check(CLI::IsMember(sweep.modes));
  app.add_option("--chunks", sweep.chunk_bytes, "chunk sizes of interleaved and overlapped, one after the other")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber);
  app.add_option("--ranks-per-node", sweep.ranks_per_node, "ranks of a simulated node")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
}

base::Status check_buddies(const ExchangeSweep& sweep, const World& world) {
  const std::string what = std::to_string(world.size()) + " ranks, " + std::to_string(sweep.ranks_per_node) + " a node";
  if (sweep.common.min_bytes == 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, "--min 0", "there would be nothing to exchange", "begin with 1 byte");
  if (world.size() % sweep.ranks_per_node != 0)
    return base::fail(PERDURE_INVALID_ARGUMENT, what, "the last node would have fewer ranks than its buddies",
                      "start a multiple of --ranks-per-node");
  if (world.size() == sweep.ranks_per_node)
    return base::fail(PERDURE_INVALID_ARGUMENT, what, "a node alone has no buddy",
                      "start more ranks (mpirun -n 2), or choose fewer --ranks-per-node");
  if (!world.other_threads())
    return base::fail(PERDURE_UNSUPPORTED, "MPI", "allows no threads beside the one that calls it",
                      "use an MPI library that grants MPI_THREAD_FUNNELED");
  return {};
}

Json settings_of(const ExchangeSweep& sweep, const World& world, const std::string& directory) {
  return {{"ranks", world.size()},
          {"ranks_per_node", sweep.ranks_per_node},
          {"repetitions", sweep.common.repetitions},
          {"directory", directory}};
}

}  // namespace

int main(int argc, char** argv) {
  Interruption interruption;
  const World world(argc, argv);
  ExchangeSweep sweep;
  sweep.common.min_bytes = 64U << 10;
  sweep.common.max_bytes = 64U << 20;
  CLI::App app{"Every rank writes its data, exchanges it with its buddy node, and writes the buddy's"};
  add_options(app, sweep);
  if (const auto code = parse(app, argc, argv, world.rank(), sweep.common)) return *code;
  Results results("cpex", {});
  if (const auto status = check_buddies(sweep, world); !status) return finish(world, sweep.common, status, results);
  const auto directory = WorkDirectory::make(sweep.common.directory, "cpex", interruption);
  if (!directory) return finish(world, sweep.common, base::fail(directory.error()), results);
  results = Results("cpex", settings_of(sweep, world, (*directory)->path()));
  return finish(world, sweep.common, measure(sweep, world, (*directory)->path(), results), results);
}
