#include "options.hpp"

#include <algorithm>

namespace perdure::micro {

std::vector<std::uint64_t> Options::sizes() const {
  std::vector<std::uint64_t> all;
  for (std::uint64_t size = min_bytes; size < max_bytes;) {
    all.push_back(size);
    if (size > max_bytes / factor) break;
    size = std::max<std::uint64_t>(size * factor, 1);
  }
  all.push_back(max_bytes);
  return all;
}

void add_common_options(CLI::App& app, Options& options) {
  const auto add_size = [&](const char* name, std::uint64_t& size, const char* what) {
    app.add_option(name, size, what)->transform(CLI::AsSizeValue(false))->capture_default_str();
  };
  add_size("--min", options.min_bytes, "smallest size in bytes; KiB, MiB, GiB are understood");
  add_size("--max", options.max_bytes, "largest size in bytes");
  app.add_option("--factor", options.factor, "each size is so many times the one before")
      ->check(CLI::Range(2, 1024))
      ->capture_default_str();
  app.add_option("--repetitions", options.repetitions, "counted repetitions of each size, after one warm-up")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  auto* json = app.add_flag("--json", options.json, "print one JSON object");
  app.add_flag("--csv", options.csv, "print rows of CSV")->excludes(json);
  app.add_option("--svg", options.svg, "draw measurement and model into this file");
}

void add_directory_option(CLI::App& app, Options& options) {
  app.add_option("--directory", options.directory,
                 "where files are written, in a directory of their own that is removed; default $TMPDIR or /tmp");
}

std::optional<int> parse(CLI::App& app, int argc, char** argv, int rank, const Options& options) {
  try {
    app.parse(argc, argv);
    if (options.min_bytes > options.max_bytes)
      throw CLI::ValidationError("--min", std::to_string(options.min_bytes) + " is more than --max " +
                                              std::to_string(options.max_bytes) + "; choose it smaller");
  } catch (const CLI::ParseError& error) {
    return rank == 0 ? app.exit(error) : error.get_exit_code();
  }
  return {};
}

}  // namespace perdure::micro
