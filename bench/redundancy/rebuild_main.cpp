// Runs one of the two launches around the loss of a node; bench/redundancy/run destroys the node between them.
#include <signal.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "rebuild.hpp"
#include "together.hpp"

namespace {

using namespace perdure;
using namespace perdure::redundancy_bench;

struct Arguments {
  Rebuild settings;
  bool keep = false;
  std::string nodes;
};

void add_options(CLI::App& app, Arguments& arguments) {
  Rebuild& s = arguments.settings;
  s.job.name = "rebuild";
  app.add_flag("--keep", arguments.keep, "the first launch, which ends by killing itself; else the second");
  app.add_option("--nodes", arguments.nodes, "node.numbers: which simulated nodes are used, separated by commas");
  app.add_option("--directory", s.job.directory, "of nodes, tiers and store, the same in both launches")->required();
  app.add_option("--bytes", s.bytes, "protected bytes per rank")->transform(CLI::AsSizeValue(false));
  app.add_option("--scheme", s.job.scheme, "redundancy.scheme; not single")->required();
  app.add_option("--ranks-per-node", s.job.ranks_per_node, "of a simulated node")->check(CLI::PositiveNumber);
  app.add_option("--group-size", s.job.group_size, "redundancy.group_size");
  app.add_option("--parities", s.job.parities, "redundancy.parities");
  app.add_option("--chunk", s.job.chunk, "chunk_bytes");
  app.add_option("--set", s.job.more, "further options, key=value separated by semicolons");
}

// Slows the flush to almost nothing: the restored data must come from other nodes, without interference.
void hold_back_the_flush(JobOptions& job, const std::string& nodes) {
  job.flush_bytes_per_s = 2U << 20;
  job.more += std::string(job.more.empty() ? "" : ";") + "engine.drain_timeout=0.1";
  if (!nodes.empty()) job.more += ";node.numbers=" + nodes;
}

}  // namespace

int main(int argc, char** argv) {
  const micro::World world(argc, argv);
  Arguments arguments;
  CLI::App app{"What the loss of a node costs: one launch that dies, one that restores on a spare node; as JSON"};
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return world.rank() == 0 ? app.exit(error) : error.get_exit_code();
  }
  hold_back_the_flush(arguments.settings.job, arguments.nodes);
  const auto result = arguments.keep ? keep(arguments.settings, world) : restore(arguments.settings, world);
  if (!result && world.rank() == 0) std::fprintf(stderr, "rebuild: %s\n", result.error().text().c_str());
  if (!result) return 1;
  if (world.rank() == 0) std::printf("%s\n", result->dump().c_str());
  std::fflush(stdout);
  if (arguments.keep) {
    micro::wait_quietly();
    ::raise(SIGKILL);
  }
  return 0;
}
