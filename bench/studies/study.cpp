// The program behind bench/studies/run: one study, its rows, plots and verdicts.
#include "study.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "config/toml.hpp"
#include "os/file.hpp"
#include "summary.hpp"

namespace perdure::studies {
namespace {

struct Arguments {
  std::string study, description = PERDURE_DEVICES "/veloc-node.toml", directory;
  bool full = false, no_oracle = false, strict = false, quiet = false;
  unsigned repetitions = 5, max_cells = 0;
  std::uint64_t seed = 1;
};

base::Result<device::Node> read_node(const std::string& path) {
  PERDURE_TRY(const auto content, os::read_file(path, config::kMaxFileBytes));
  return device::parse_description({reinterpret_cast<const char*>(content.data()), content.size()}, path);
}

base::Status write(const std::string& path, const std::string& text) {
  return os::write_file_atomically(path, base::as_bytes(text));
}

base::Status write_all(const Results& results, const std::string& directory) {
  PERDURE_CHECK(os::make_directories(directory));
  PERDURE_CHECK(write(directory + "/results.json", rows_json(results.rows)));
  PERDURE_CHECK(write(directory + "/results.csv", rows_csv(results.rows)));
  PERDURE_CHECK(write(directory + "/goals.json", goals_json(results.goals)));
  PERDURE_CHECK(write(directory + "/table.txt", summary_table(results.rows)));
  for (const Plot& plot : results.plots)
    PERDURE_CHECK(write(directory + "/" + plot.file + ".svg", plot::svg(plot.chart)));
  return {};
}

base::Result<bool> run(const Arguments& arguments) {
  PERDURE_TRY(const Study* const study, find_study(arguments.study));
  const auto driver = simulator_driver();
  Context context;
  PERDURE_TRY(context.node, read_node(arguments.description));
  context.driver = driver.get();
  context.repetitions = arguments.repetitions;
  context.seed = arguments.seed;
  context.full = arguments.full;
  context.oracle = !arguments.no_oracle;
  context.max_cells = arguments.max_cells;
  if (!arguments.quiet)
    context.progress = [&](const std::string& what) { std::fprintf(stderr, "%s: %s\n", study->name, what.c_str()); };
  PERDURE_TRY(const Results results, study->run(context));
  PERDURE_CHECK(write_all(results, arguments.directory));
  std::printf("Study %s: %s\n%s, %s; %zu runs by the %s%s, medians of %u; in %s\n\n%s\n%s", study->name, study->summary,
              context.node.name.c_str(), arguments.full ? "full size" : "reduced size", results.rows.size(),
              driver->name(), " in virtual time", arguments.repetitions, arguments.directory.c_str(),
              summary_table(results.rows).c_str(), goals_text(results.goals).c_str());
  bool met = true;
  for (const Goal& goal : results.goals) met = met && goal.met();
  return met;
}

}  // namespace
}  // namespace perdure::studies

int main(int argc, char** argv) {
  perdure::studies::Arguments arguments;
  CLI::App app{
      "One study of adaptive checkpointing, in virtual time. Exit status: 0 done, 1 a goal is not met (with "
      "--strict), 2 wrong usage, 3 it could not be done."};
  app.add_option("STUDY", arguments.study, "model, weak, strong, cache, horizontal or application")->required();
  app.add_option("--out", arguments.directory, "where results go")->required();
  app.add_option("--description", arguments.description, "of the devices")->capture_default_str();
  app.add_option("--repetitions", arguments.repetitions, "seeds per cell")->check(CLI::Range(1, 1000));
  app.add_option("--seed", arguments.seed, "the first one");
  app.add_option("--max-cells", arguments.max_cells, "only the first so many cells; 0: all");
  app.add_flag("--full", arguments.full, "more cells, and more nodes simulated one by one");
  app.add_flag("--no-oracle", arguments.no_oracle, "without the best plan in hindsight, which takes most of the time");
  app.add_flag("--strict", arguments.strict, "fail when a figure asked for is not met");
  app.add_flag("--quiet", arguments.quiet, "no progress");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto met = perdure::studies::run(arguments);
  if (!met) {
    std::fprintf(stderr, "study: %s\n", met.error().text().c_str());
    return met.error().code == PERDURE_INVALID_ARGUMENT ? 2 : 3;
  }
  return *met || !arguments.strict ? 0 : 1;
}
