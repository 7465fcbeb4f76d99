// Measures encoding and decoding beside memcpy, with data that exceeds the caches, on one core. Cases alternate in
// every repetition, because machines are shared and noisy.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>

#include "cases.hpp"
#include "outcome.hpp"
#include "redundancy/kernels.hpp"

namespace {

using namespace perdure::parity_kernels;

struct Arguments {
  Size size{64 << 20, 1 << 20};
  int repetitions = 15;
  bool json = false;
};

double seconds_of(const Case& one, std::size_t& bytes) {
  const auto begin = std::chrono::steady_clock::now();
  bytes = one.run();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns an empty list if a result is wrong; the first repetition is a warm-up.
std::vector<Measured> measure(const std::vector<Case>& cases, int repetitions) {
  std::vector<Measured> measured;
  for (const Case& one : cases) measured.push_back({one.name, one.k, one.m, {}});
  for (int repetition = 0; repetition <= repetitions; ++repetition)
    for (std::size_t i = 0; i < cases.size(); ++i) {
      std::size_t bytes = 0;
      const double seconds = seconds_of(cases[i], bytes);
      if (repetition > 0)
        measured[i].bytes_per_s.push_back(static_cast<double>(bytes) / seconds);
      else if (bytes == 0 || !cases[i].good()) {
        std::fprintf(stderr, "parity_kernels: %s gives a wrong result\n", cases[i].name.c_str());
        return {};
      }
    }
  return measured;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Parities against memcpy, in one run. Ratios: bytes of data read per second over bytes copied per second"};
  Arguments arguments;
  app.add_option("--bytes", arguments.size.bytes, "data per case and repetition")
      ->transform(CLI::AsSizeValue(false))
      ->capture_default_str();
  app.add_option("--chunk", arguments.size.chunk_bytes, "bytes of one item of a stripe")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 40U))
      ->capture_default_str();
  app.add_option("--repetitions", arguments.repetitions, "counted repetitions, after one warm-up")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--json", arguments.json, "print one JSON object");
  CLI11_PARSE(app, argc, argv);
  const Buffers buffers(arguments.size);
  const auto all = cases(buffers);
  if (!all) {
    std::fprintf(stderr, "parity_kernels: %s\n", all.error().text().c_str());
    return 2;
  }
  const auto measured = measure(*all, arguments.repetitions);
  if (measured.empty()) return 1;
  auto result = to_json(measured);
  result["bytes"] = arguments.size.bytes;
  result["chunk_bytes"] = arguments.size.chunk_bytes;
  result["repetitions"] = arguments.repetitions;
  result["kernels"] = perdure::redundancy::fastest_kernels().name;
  if (arguments.json)
    std::printf("%s\n", result.dump(2).c_str());
  else
    print_table(result);
  return 0;
}
