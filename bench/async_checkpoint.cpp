// Benchmarks asynchronous checkpointing (VeloC IPDPS'19, V-B). Every rank fills a protected array with random bytes.
// After a barrier it checkpoints, and the slowest rank's time counts; then it waits for the store. Reference
// measurements alternate with it in the same repetition, because machines are shared and noisy.
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>

#include "measurement.hpp"
#include "together.hpp"

namespace {

using namespace perdure::bench;

// Returns the same directory on all ranks.
std::string make_store(const std::string& wanted, int rank) {
  std::string path = wanted.empty() ? "./perdure-bench-XXXXXX" : wanted;
  if (rank == 0) {
    std::error_code error;
    if (wanted.empty() && ::mkdtemp(path.data()) == nullptr) give_up("cannot make a directory here for the store");
    std::filesystem::create_directories(path, error);
    if (error) give_up(path + ": " + error.message());
  }
  return broadcast(path);
}

// A directory that the user named may hold other files, so only this run's files are removed.
void remove_store(const Arguments& arguments, bool temporary) {
  std::error_code ignored;
  const std::filesystem::path store = arguments.store;
  if (temporary) {
    // A daemon may still be retiring versions there; the next round removes its changes.
    for (int round = 0; round < 100 && std::filesystem::exists(store, ignored); ++round) {
      std::filesystem::remove_all(store, ignored);
      if (round > 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return;
  }
  for (const char* name : {"bench", "empty"}) std::filesystem::remove_all(store / name, ignored);
  std::filesystem::remove(store, ignored);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Context context;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &context.ranks);
  CLI::App app{"Asynchronous checkpointing against memcpy, fresh tmpfs files and write+fsync, in one run"};
  Arguments arguments;
  app.add_option("--bytes", arguments.bytes, "protected bytes per rank")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--repetitions", arguments.repetitions, "counted repetitions, after one warm-up")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--tiers", arguments.tiers, "tier.order")->capture_default_str();
  app.add_option("--mode", arguments.mode, "engine")
      ->check(CLI::IsMember({"embedded", "daemon"}))
      ->capture_default_str();
  app.add_option("--capture", arguments.capture, "capture.mode")
      ->check(CLI::IsMember({"copy", "cow", "auto"}))
      ->capture_default_str();
  app.add_option("--pause", arguments.pause_s, "seconds before each repetition")
      ->check(CLI::Range(0.0, 60.0))
      ->capture_default_str();
  app.add_option("--set", arguments.more, "further options, key=value separated by semicolons");
  app.add_option("--chunk", arguments.chunk, "chunk_bytes")->capture_default_str();
  app.add_option("--store", arguments.store, "store directory; by default a temporary one here");
  app.add_flag("--keep", arguments.keep, "leave the store behind");
  app.add_flag("--json", arguments.json, "print one JSON object");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = rank == 0 ? app.exit(error) : 0;
    MPI_Finalize();
    return code;
  }
  const bool temporary = arguments.store.empty();
  arguments.store = make_store(arguments.store, rank);
  arguments.job = broadcast("bench-" + std::to_string(::getpid()));
  context.bytes_per_rank = arguments.bytes;
  context.mode = arguments.mode;
  context.tiers = arguments.tiers;
  context.capture = arguments.capture;
  context.store = arguments.store;
  Samples samples;
  Bench(arguments, rank).run(samples, context);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const auto result = to_json(context, samples);
    if (arguments.json)
      std::printf("%s\n", result.dump(2).c_str());
    else
      print_table(result);
    if (!arguments.keep) remove_store(arguments, temporary);
  }
  MPI_Finalize();
  return 0;
}
