// Measures how much time a program loses in the second after a checkpoint's call, for one capture.mode. The program
// rewrites different shares of its memory at once. To compare modes, alternate runs (bench/speed/run --only lost).
//   build/release/bench/lost_time --capture cow [--bytes 256MiB] [--turns 5] [--store DIRECTORY]
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "statistics.hpp"
#include "turns.hpp"

namespace {

using namespace perdure::bench;

void print_table(const nlohmann::json& result) {
  std::printf("capture.mode = %s; what is lost of a turn, medians of %d\n",
              result["capture"].get<std::string>().c_str(), result["turns"].get<int>());
  for (const auto& cell : result["cells"]) {
    const double undisturbed = median(cell["undisturbed_s"].get<std::vector<double>>());
    const double disturbed = median(cell["disturbed_s"].get<std::vector<double>>());
    std::printf("  %5.1f %% %-10s  %8.2f ms of %.1f, the call %8.2f ms\n", cell["fraction"].get<double>() * 100,
                cell["order"].get<std::string>().c_str(), (disturbed - undisturbed) * 1e3, undisturbed * 1e3,
                median(cell["call_s"].get<std::vector<double>>()) * 1e3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"What a program loses in the second after a checkpoint's call"};
  LostTime settings;
  bool json = false;
  app.add_option("--bytes", settings.bytes, "protected bytes")->transform(CLI::AsSizeValue(false));
  app.add_option("--turns", settings.turns, "counted ones, after one warm-up")->check(CLI::Range(1, 1000));
  app.add_option("--seconds", settings.seconds, "of an undisturbed turn")->check(CLI::Range(0.001, 60.0));
  app.add_option("--settle", settings.settle_s, "seconds between turns")->check(CLI::Range(0.0, 60.0));
  app.add_option("--fractions", settings.fractions, "of the memory that a turn rewrites")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--capture", settings.capture, "capture.mode")->check(CLI::IsMember({"copy", "cow", "auto"}));
  app.add_option("--set", settings.more, "further options, key=value separated by semicolons");
  app.add_option("--store", settings.store, "where a temporary store is made; by default the working directory");
  app.add_flag("--json", json, "print one JSON object");
  CLI11_PARSE(app, argc, argv);
  settings.store = (settings.store.empty() ? "." : settings.store) + "/perdure-lost-XXXXXX";
  if (::mkdtemp(settings.store.data()) == nullptr) {
    std::fprintf(stderr, "lost_time: cannot make a directory for the store: %s\n", settings.store.c_str());
    return 1;
  }
  nlohmann::json result;
  {
    Turns turns(settings);
    result = turns.run();
  }
  std::error_code ignored;
  std::filesystem::remove_all(settings.store, ignored);
  if (json)
    std::printf("%s\n", result.dump(2).c_str());
  else
    print_table(result);
  return 0;
}
