// Measures how much the engine slows a rank that computes beside its flush, if a launcher bound the rank to one
// processor. The engine's threads are on that processor (engine.cpus = inherit), or where the node lets them run
// (auto). Both alternate round by round, with two engines in one process, because machines are shared and noisy.
//
//     mpirun -n 1 --bind-to core bench/engine_cpus [--bytes 256MiB] [--rounds 9] [--compute 1.0] [--store DIRECTORY]
#include <mpi.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include "perdure/perdure_mpi.h"
#include "statistics.hpp"
#include "together.hpp"

namespace {

using namespace perdure::bench;

struct Arguments {
  std::size_t bytes = 256U << 20;
  int rounds = 9;
  double compute_s = 1;
  std::string store;
};

/// The measurements with one setting of engine.cpus.
struct Setting {
  const char* cpus;
  perdure_t* handle = nullptr;
  std::vector<double> computing = {}, stored = {};
};

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "engine_cpus: %s\n", what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::exit(1);
}

void check(perdure_status status, perdure_t* handle, const char* call) {
  if (status != PERDURE_OK) give_up(std::string(call) + ": " + perdure_error_text(handle));
}

volatile std::uint64_t result_of_computing;

/// Computes with the processor alone: in registers only.
void compute(std::uint64_t steps) {
  std::uint64_t x = steps | 1;
  for (std::uint64_t i = 0; i < steps; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  result_of_computing = x;
}

double seconds_of(std::uint64_t steps) {
  const double begin = now_s();
  compute(steps);
  return now_s() - begin;
}

/// Returns how many steps take about this long, undisturbed: the fastest of a few tries counts.
std::uint64_t steps_for(double seconds) {
  constexpr std::uint64_t kTried = 20'000'000;
  double fastest = 1e9;
  for (int i = 0; i < 5; ++i) fastest = std::min(fastest, seconds_of(kTried));
  return static_cast<std::uint64_t>(static_cast<double>(kTried) * seconds / fastest);
}

void open(Setting& setting, const Arguments& arguments, std::vector<char>& data) {
  char message[1024];
  const std::string options = "store.path=" + arguments.store + ";tier.order=memory;retention.keep_last=1;job=" +
                              std::filesystem::path(arguments.store).filename().string() +
                              ";engine.cpus=" + setting.cpus;
  if (perdure_open_mpi(MPI_COMM_WORLD, options.c_str(), &setting.handle, message, sizeof message) != PERDURE_OK)
    give_up(message);
  check(perdure_protect(setting.handle, 1, data.data(), 1, data.size()), setting.handle, "protect");
}

// A second thread of the rank computes on the same processor while the first one sleeps until the version is stored.
// Neither has to poll.
void measure(Setting& setting, int round, std::uint64_t steps) {
  check(perdure_checkpoint(setting.handle, setting.cpus, round), setting.handle, "checkpoint");
  const double captured = now_s();
  double computed = 0;
  std::thread computing([&] {
    compute(steps);
    computed = now_s();
  });
  check(perdure_wait(setting.handle, setting.cpus, round, PERDURE_LEVEL_STORE, PERDURE_FOREVER), setting.handle,
        "wait");
  const double stored = now_s();
  computing.join();
  if (round == 0) return;  // warms up directories, pages and models
  setting.computing.push_back(computed - captured);
  setting.stored.push_back(stored - captured);
}

std::string load() {
  std::string text;
  std::ifstream file("/proc/loadavg");
  std::getline(file, text);
  return text;
}

/// Compares each round by itself, because a disturbance affects both sides of a round.
double median_ratio(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) ratios.push_back(a[i] / b[i]);
  return median(ratios);
}

void print(const std::vector<double>& alone, const std::array<Setting, 2>& settings) {
  std::printf("%-24s %10s %14s %10s %11s %14s\n", "medians", "compute s", "min-max", "x alone", "to store s",
              "min-max");
  std::printf("%-24s %10.3f\n", "compute alone", median(alone));
  for (const Setting& setting : settings) {
    const Spread computing = spread(setting.computing), stored = spread(setting.stored);
    std::printf("engine.cpus = %-10s %10.3f %7.3f-%.3f %9.2f %12.3f %7.3f-%.3f\n", setting.cpus, computing.median,
                computing.min, computing.max, median_ratio(setting.computing, alone), stored.median, stored.min,
                stored.max);
  }
  std::printf("auto / inherit: compute %.2f, to store %.2f (medians of the rounds' ratios)\n",
              median_ratio(settings[1].computing, settings[0].computing),
              median_ratio(settings[1].stored, settings[0].stored));
}

void run(const Arguments& arguments) {
  std::vector<char> data(arguments.bytes);
  std::array<Setting, 2> settings = {Setting{"inherit"}, Setting{"auto"}};
  const std::string load_before = load();
  for (Setting& setting : settings) open(setting, arguments, data);
  const std::uint64_t steps = steps_for(arguments.compute_s);
  std::vector<double> alone;
  for (int round = 0; round <= arguments.rounds; ++round) {
    fill_random(data, static_cast<unsigned>(round) + 1);
    const double undisturbed = seconds_of(steps);
    if (round > 0) alone.push_back(undisturbed);
    // The order alternates, so that neither setting always follows the other's flush.
    for (std::size_t i = 0; i < settings.size(); ++i)
      measure(settings[(i + static_cast<std::size_t>(round)) % settings.size()], round, steps);
    show_progress(round, arguments.rounds);
  }
  for (Setting& setting : settings)
    if (perdure_close(&setting.handle) != PERDURE_OK) give_up("close");
  print(alone, settings);
  std::printf("load before: %s\nload after:  %s\n", load_before.c_str(), load().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 1)
    give_up("start it with one rank: others would wait in MPI, which takes a processor as computing does");
  CLI::App app{"A rank's computing beside the flush of its checkpoint: engine.cpus = inherit against auto"};
  Arguments arguments;
  app.add_option("--bytes", arguments.bytes, "protected bytes")->transform(CLI::AsSizeValue(false));
  app.add_option("--rounds", arguments.rounds, "counted rounds, after one warm-up")->check(CLI::Range(1, 1000));
  app.add_option("--compute", arguments.compute_s, "seconds of computing beside each flush")
      ->check(CLI::Range(0.01, 600.0));
  app.add_option("--store", arguments.store, "where a temporary store is made; by default the working directory");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    MPI_Finalize();
    return code;
  }
  arguments.store = (arguments.store.empty() ? "." : arguments.store) + "/perdure-bench-XXXXXX";
  if (::mkdtemp(arguments.store.data()) == nullptr)
    give_up("cannot make a directory for the store: " + arguments.store);
  run(arguments);
  std::error_code ignored;
  std::filesystem::remove_all(arguments.store, ignored);
  MPI_Finalize();
  return 0;
}
