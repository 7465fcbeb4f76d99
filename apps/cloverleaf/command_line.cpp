#include "command_line.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

namespace clover {

Parsed parse(const char* program, int argc, char** argv, bool speaks) {
  CommandLine line;
  CLI::App app{"CloverLeaf: compressible gas in a box, by explicit time steps, on a structured mesh.", program};
  app.add_option("deck", line.deck, "input deck")->required();
  app.add_option("--threads", line.mesh.threads, "of each rank")->check(CLI::Range(1, 4096));
  app.add_flag("--reproducible", line.mesh.reproducible, "sums have the same bits on any number of ranks and threads");
  app.add_flag("--check", line.mesh.check, "every loop is watched for what it reads and writes; slow");
  app.add_option("--steps", line.steps, "end after so many steps, instead of where the deck says")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 40));
  line.checkpoints.name = program;
  app.add_option("--checkpoint-every", line.checkpoints.every_s,
                 "seconds from one checkpoint to the next; it goes on from the last one")
      ->check(CLI::PositiveNumber);
  app.add_option("--checkpoint-loops", line.checkpoints.every_loops, "loops from one checkpoint to the next")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--checkpoint-before", line.checkpoints.before,
                 "only before loops of this name, instead of where it is smallest");
  app.add_option("--checkpoint-name", line.checkpoints.name, "of the checkpoints")->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, wrong;
    const bool asked = app.exit(error, out, wrong) == 0;
    if (speaks) std::cout << out.str() << std::flush, std::cerr << wrong.str();
    return {std::nullopt, asked ? 0 : 2};
  }
  return {line, 0};
}

}  // namespace clover
