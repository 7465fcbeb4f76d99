// Runs the same program over each checkpoint system, for bench/peers/run.
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "measured_loop.hpp"
#include "systems.hpp"
#include "together.hpp"

namespace {

using namespace perdure;
using namespace perdure::peers_bench;
using Json = nlohmann::json;

struct Arguments {
  std::string system = "perdure";
  LoopSettings loop;
  Place place;
  std::string result;
  bool list = false;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--system", arguments.system, "which one, of those that --systems lists")->capture_default_str();
  app.add_option("--bytes", arguments.loop.bytes, "protected bytes per rank")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--repetitions", arguments.loop.repetitions, "counted ones, after one to warm up")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--node", arguments.place.node, "empty directory on the memory file system");
  app.add_option("--store", arguments.place.store, "empty directory on the disk");
  app.add_option("--set", arguments.place.settings, "the system's own settings, key=value separated by semicolons");
  app.add_flag("--systems", arguments.list, "only list the systems that this program was built with, as JSON");
  app.add_option("--result", arguments.result, "file for one JSON object: systems print what they like");
}

int list_systems() {
  Json names = Json::array();
  for (const SystemEntry& one : systems()) names.push_back(one.name);
  std::printf("%s\n", Json({{"systems", names}, {"fakes", with_fakes()}}).dump().c_str());
  return 0;
}

// The other ranks do not know of one rank's failure, and would wait for it.
[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "peers: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

Json result_of(const Arguments& arguments, const BackEnd& system, const MeasuredLoop& loop, int ranks) {
  return {{"benchmark", "peers"},
          {"system", arguments.system},
          {"fakes", with_fakes()},
          {"settings",
           {{"ranks", ranks},
            {"bytes_per_rank", arguments.loop.bytes},
            {"repetitions", arguments.loop.repetitions},
            {"settings", arguments.place.settings}}},
          {"syncs", system.syncs()},
          {"first_blocking_s", loop.first_blocking_s()},
          {"times_s", loop.times()}};
}

void print_times(const Json& result) {
  std::printf("%s%s\n", result["system"].get<std::string>().c_str(), with_fakes() ? " (A FAKE)" : "");
  for (const auto& [name, seconds] : result["times_s"].items()) {
    std::printf("  %-16s", name.c_str());
    for (const double one : seconds) std::printf(" %.3f", 1e3 * one);
    std::printf(" ms\n");
  }
}

void measure(Arguments& arguments, int rank, int ranks) {
  arguments.place.run = bench::broadcast("peers-" + std::to_string(::getpid()));
  const auto system = make_back_end(arguments.system);
  if (system == nullptr)
    give_up("this program was built without " + arguments.system + "; --systems lists what it has");
  MeasuredLoop loop(*system, arguments.loop, arguments.place);
  if (const Outcome done = loop.run(); !done) give_up(arguments.system + ": " + done.error());
  if (rank != 0) return;
  const Json result = result_of(arguments, *system, loop, ranks);
  if (arguments.result.empty()) return print_times(result);
  std::ofstream out(arguments.result);
  out << result.dump(2) << "\n";
  out.close();
  if (!out) give_up("cannot write " + arguments.result);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{"One measured loop over each system that makes checkpoints; bench/peers/run makes a table of it"};
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  if (arguments.list) return list_systems();
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (arguments.place.node.empty() || arguments.place.store.empty()) give_up("--node and --store are needed");
  measure(arguments, rank, ranks);
  MPI_Finalize();
  return 0;
}
