#pragma once
// Parses the options that all microbenchmarks share, on all ranks.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace perdure::micro {

struct Options {
  std::uint64_t min_bytes = 0, max_bytes = 0;
  unsigned factor = 4;
  int repetitions = 5;
  std::string directory;  ///< empty: a temporary one
  bool json = false, csv = false;
  std::string svg;  ///< empty: none

  /// Returns sizes from min_bytes on, each `factor` times the one before (1 after 0), and max_bytes at the end.
  std::vector<std::uint64_t> sizes() const;
};

/// Sizes default to those in `options`.
void add_common_options(CLI::App& app, Options& options);
void add_directory_option(CLI::App& app, Options& options);

/// Parses the command line; returns the exit status if the program is to end now. Rank 0 prints the reason.
std::optional<int> parse(CLI::App& app, int argc, char** argv, int rank, const Options& options);

}  // namespace perdure::micro
