// Implements the program behind bench/studies/run: it runs one study, and prints rows, plots and verdicts.
#include "study.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "config/toml.hpp"
#include "engine_part.hpp"
#include "os/file.hpp"
#include "summary.hpp"

namespace perdure::studies {
namespace {

struct Arguments {
  std::string study, description = PERDURE_DEVICES "/veloc-node.toml", directory, driver = "simulator";
  bool full = false, no_oracle = false, strict = false, quiet = false, verify = false;
  unsigned repetitions = 5, engine_repetitions = 5, max_cells = 0;
  double time_scale = kEngineTimeScale, jitter_s = Context{}.jitter_s;
  std::uint64_t seed = 1;
};

base::Result<device::Node> read_node(const std::string& path) {
  PERDURE_TRY(const auto content, os::read_file(path, config::kMaxFileBytes));
  return device::parse_description({reinterpret_cast<const char*>(content.data()), content.size()}, path);
}

base::Status write(const std::string& path, const std::string& text) {
  return os::write_file_atomically(path, base::as_bytes(text));
}

/// A study's results: its rows, for files, and two texts, for readers.
struct Report {
  Results results;
  std::string table, text;
};

base::Status write_all(const Report& report, const std::string& directory) {
  PERDURE_CHECK(os::make_directories(directory));
  PERDURE_CHECK(write(directory + "/results.json", rows_json(report.results.rows)));
  PERDURE_CHECK(write(directory + "/results.csv", rows_csv(report.results.rows)));
  PERDURE_CHECK(write(directory + "/goals.json", goals_json(report.results.goals)));
  PERDURE_CHECK(write(directory + "/table.txt", report.table));
  for (const Plot& plot : report.results.plots)
    PERDURE_CHECK(write(directory + "/" + plot.file + ".svg", plot::svg(plot.chart)));
  return {};
}

base::Status simulate(const Arguments& arguments, const Study& study, Context context, Report& report) {
  const auto driver = simulator_driver();
  context.driver = driver.get();
  PERDURE_TRY(report.results, study.run(context));
  report.table = summary_table(report.results.rows);
  report.text =
      fmt::format("{}, {}; {} runs by the simulator in virtual time, medians of {}\n\n{}\n{}", context.node.name,
                  arguments.full ? "full size" : "reduced size", report.results.rows.size(), context.repetitions,
                  report.table, goals_text(report.results.goals));
  return {};
}

// If the simulator ran too, the goals are judged by it: few cells and repetitions in real time give no verdict.
base::Status run_engine(const Arguments& arguments, const Study& study, Context context, Report& report) {
  context.repetitions = arguments.engine_repetitions;
  EngineDriverOptions options;
  options.scale.time = arguments.time_scale;
  options.verify = arguments.verify;
  PERDURE_TRY(EnginePart part, run_engine_part(study, context, options));
  const bool alone = arguments.driver == "engine";
  report.text += (alone ? "" : "\n") + part.text + "\n" + goals_text(part.results.goals);
  report.table += (alone ? "" : "\n") + part.text;
  report.results.rows = all_rows(std::move(report.results.rows), part);
  if (alone) report.results.goals = part.results.goals;
  for (Plot& plot : part.results.plots) report.results.plots.push_back({"engine_" + plot.file, std::move(plot.chart)});
  return {};
}

base::Result<bool> run(const Arguments& arguments) {
  PERDURE_TRY(const Study* const study, find_study(arguments.study));
  Context context;
  PERDURE_TRY(context.node, read_node(arguments.description));
  context.repetitions = arguments.repetitions;
  context.seed = arguments.seed;
  context.jitter_s = arguments.jitter_s;
  context.full = arguments.full;
  context.oracle = !arguments.no_oracle;
  context.max_cells = arguments.max_cells;
  if (!arguments.quiet)
    context.progress = [&](const std::string& what) { std::fprintf(stderr, "%s: %s\n", study->name, what.c_str()); };
  Report report;
  const bool engine = arguments.driver == "engine" || (arguments.driver == "both" && study->by_engine != nullptr);
  if (arguments.driver != "engine") PERDURE_CHECK(simulate(arguments, *study, context, report));
  if (engine) PERDURE_CHECK(run_engine(arguments, *study, context, report));
  PERDURE_CHECK(write_all(report, arguments.directory));
  std::printf("Study %s: %s; in %s\n%s", study->name, study->summary, arguments.directory.c_str(), report.text.c_str());
  bool met = true;
  for (const Goal& goal : report.results.goals) met = met && goal.met();
  return met;
}

}  // namespace
}  // namespace perdure::studies

int main(int argc, char** argv) {
  perdure::studies::Arguments arguments;
  CLI::App app{
      "One study of adaptive checkpointing, in virtual time or by the real engine on emulated devices. Exit status: 0 "
      "done, 1 a goal is not met (with "
      "--strict), 2 wrong usage, 3 it could not be done."};
  app.add_option("STUDY", arguments.study, "model, weak, strong, cache, horizontal or application")->required();
  app.add_option("--out", arguments.directory, "where results go")->required();
  app.add_option("--description", arguments.description, "of the devices")->capture_default_str();
  app.add_option("--repetitions", arguments.repetitions, "seeds per cell")->check(CLI::Range(1, 1000));
  app.add_option("--driver", arguments.driver, "who runs it; both: the engine runs few cells beside all simulated ones")
      ->check(CLI::IsMember({"simulator", "engine", "both"}))
      ->capture_default_str();
  app.add_option("--engine-repetitions", arguments.engine_repetitions, "seeds per cell that the engine runs")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--time-scale", arguments.time_scale, "real seconds of the engine per described second")
      ->check(CLI::Range(1e-4, 100.0))
      ->capture_default_str();
  app.add_flag("--verify", arguments.verify, "restore after each run of the engine, and compare every byte");
  app.add_option("--seed", arguments.seed, "the first one");
  app.add_option("--jitter", arguments.jitter_s, "simulated writers begin within so many seconds of each other")
      ->capture_default_str();
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
