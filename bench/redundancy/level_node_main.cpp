// Measures the cost of surviving the loss of nodes, with every scheme in turn. It measures how long the application is
// blocked, and how long until its checkpoints survive.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/json.hpp"
#include "level_node.hpp"
#include "together.hpp"
#include "work_directory.hpp"

namespace {

using namespace perdure;
using namespace perdure::redundancy_bench;

struct Arguments {
  LevelNode settings;
  std::string directory;
  bool json = false;
};

void add_options(CLI::App& app, Arguments& arguments) {
  LevelNode& s = arguments.settings;
  s.schemes = {"single", "partner", "buddy", "xor", "reed-solomon"};
  app.add_option("--bytes", s.bytes, "protected bytes per rank")->transform(CLI::AsSizeValue(false));
  app.add_option("--repetitions", s.repetitions, "counted ones, after one warm-up")->check(CLI::Range(1, 1000));
  app.add_option("--schemes", s.schemes, "which, in turn within each repetition")->delimiter(',');
  app.add_option("--ranks-per-node", s.job.ranks_per_node, "of a simulated node")->check(CLI::PositiveNumber);
  app.add_option("--group-size", s.job.group_size, "redundancy.group_size");
  app.add_option("--parities", s.job.parities, "redundancy.parities");
  app.add_option("--chunk", s.job.chunk, "chunk_bytes");
  app.add_option("--engine", s.job.engine, "engine.mode")->check(CLI::IsMember({"embedded", "daemon"}));
  app.add_option("--set", s.job.more, "further options, key=value separated by semicolons");
  app.add_option("--flush", s.flush_s,
                 "seconds that the flush of a node is stretched over, so that it stays out of the way; 0: it is not")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--directory", arguments.directory, "of nodes, tiers and store; default $TMPDIR or /tmp");
  app.add_flag("--json", arguments.json, "print one JSON object");
  for (CLI::Option* option : app.get_options()) option->capture_default_str();
}

Json settings_of(const LevelNode& s, const micro::World& world) {
  return {{"ranks", world.size()},          {"ranks_per_node", s.job.ranks_per_node},
          {"bytes_per_rank", s.bytes},      {"repetitions", s.repetitions},
          {"group_size", s.job.group_size}, {"parities", s.job.parities},
          {"chunk", s.job.chunk},           {"engine", s.job.engine},
          {"flush_s", s.flush_s},           {"more", s.job.more}};
}

base::Status run(const Arguments& arguments, const micro::World& world, micro::Interruption& interruption) {
  PERDURE_TRY(const auto directory, micro::WorkDirectory::make(arguments.directory, "level_node", interruption));
  PERDURE_TRY(const Times times, measure(arguments.settings, world, directory->path()));
  if (world.rank() != 0) return {};
  Json result{{"benchmark", "level_node"}, {"settings", settings_of(arguments.settings, world)}};
  result.update(to_json(times));
  if (!arguments.json) std::printf("level_node, %s\n", result["settings"].dump().c_str());
  std::printf("%s", arguments.json ? (result.dump(2) + "\n").c_str() : table(result).c_str());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  micro::Interruption interruption;
  const micro::World world(argc, argv);
  Arguments arguments;
  CLI::App app{"Time until a checkpoint survives the loss of a node, beside plain writes and sends, in one run"};
  add_options(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return world.rank() == 0 ? app.exit(error) : error.get_exit_code();
  }
  const base::Status status = micro::agree(run(arguments, world, interruption));
  if (!status && world.rank() == 0) std::fprintf(stderr, "level_node: %s\n", status.error().text().c_str());
  return status ? 0 : 1;
}
