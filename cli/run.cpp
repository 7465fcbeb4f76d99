// perdure run: launches a program under supervision. Its standard input, output and error pass through untouched.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/arguments.hpp"
#include "cli/inventory.hpp"
#include "cli/relaunch_loop.hpp"
#include "cli/verb.hpp"
#include "config/effective.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

struct RunArguments {
  plan::RelaunchPolicy policy;
  std::vector<std::string> set;
  std::string engine, store, json_file;
};

/// The settings of the command line as variables for the program, and a job name that stays the same over restarts.
base::Result<Environment> environment_for(const config::Config& config) {
  Environment environment;
  for (const auto& [key, value] : config.values()) {
    const config::Option* option = config::find_option(key);
    if (value.origin == config::Origin::command_line) environment.emplace_back(option->environment, value.text);
  }
  if (config.values().find("job")->second.origin == config::Origin::default_value)
    environment.emplace_back("PERDURE_JOB", fmt::format("run-{:016x}", os::random_u64()));
  return environment;
}

base::Result<config::Config> configuration(const RunArguments& arguments) {
  std::vector<std::string> settings = arguments.set;
  PERDURE_TRY(auto config, config::load("", settings));
  if (!arguments.engine.empty())
    PERDURE_CHECK(config.set("engine.mode", arguments.engine, config::Origin::command_line, "--engine"));
  if (!arguments.store.empty())
    PERDURE_CHECK(config.set("store.path", arguments.store, config::Origin::command_line, "--store"));
  return config;
}

/// A store that is not there yet has no versions.
Versions look_into(const std::string& location) {
  auto store = store::make_store(location);
  if (!store) return {};
  return newest_complete(**store).value_or(Versions{});
}

base::Json to_json(const LoopSummary& summary) {
  return {{"status", summary.status},
          {"reason", plan::reason_text(summary.reason)},
          {"launches", summary.state.launches},
          {"failures", summary.failures},
          {"early_failures_in_row", summary.state.early_failures_in_row},
          {"computing_s", summary.computing_s},
          {"waiting_s", summary.waiting_s},
          {"newest_complete", summary.versions}};
}

std::string text_of(const LoopSummary& summary) {
  std::string text =
      fmt::format("perdure: {}: {} launches, {} failures, status {}; {:.1f} s computing, {:.1f} s lost in restarts\n",
                  plan::reason_text(summary.reason), summary.state.launches, summary.failures.size(), summary.status,
                  summary.computing_s, summary.waiting_s);
  for (std::size_t i = 0; i < summary.failures.size(); ++i)
    text += fmt::format("perdure:   failure {}: {}\n", i + 1, summary.failures[i]);
  for (const auto& [name, version] : summary.versions)
    text += fmt::format("perdure:   newest complete: {}@{}\n", name, version);
  return text;
}

bool write_json(const LoopSummary& summary, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr) return false;
  print(file, to_json(summary).dump(2, ' ', false, base::Json::error_handler_t::replace) + "\n");
  return std::fclose(file) == 0;
}

int run(const RunArguments& arguments, Terminal& terminal) {
  if (terminal.program.empty())
    return report(terminal, {PERDURE_INVALID_ARGUMENT, "run", "no program given",
                             "perdure run [OPTIONS] -- PROGRAM [ARGUMENTS]; perdure run --help", false});
  auto config = configuration(arguments);
  if (!config) return report(terminal, config.error());
  auto environment = environment_for(*config);
  if (!environment) return report(terminal, environment.error());

  const std::string location = config->text("store.path");
  const Loop loop{terminal.program, *environment, arguments.policy, [&] { return look_into(location); },
                  [&](const std::string& line) { print(terminal.err, "perdure: " + line + "\n"); }};
  ProcessSupervisor supervisor;
  const LoopSummary summary = run_loop(loop, supervisor);
  print(terminal.err, text_of(summary));
  if (!arguments.json_file.empty() && !write_json(summary, arguments.json_file))
    print(terminal.err, "perdure: " + base::errno_error(errno, "open", arguments.json_file).text() + "\n");
  return summary.status;
}

}  // namespace

Action enrol_run(CLI::App& app) {
  auto arguments = std::make_shared<RunArguments>();
  plan::RelaunchPolicy& policy = arguments->policy;
  app.add_option("--restarts", policy.restarts,
                 "launch again after so many failures in a row (a run of 10 minutes starts the count afresh)")
      ->capture_default_str()
      ->check(whole_number)
      ->take_last();
  app.add_option("--backoff", policy.backoff_s,
                 "seconds to wait after the first failure; doubles with each one in a row, up to 60")
      ->capture_default_str()
      ->check(seconds)
      ->take_last();
  app.add_option("--set", arguments->set, "a setting KEY=VALUE for the program (repeatable)")->allow_extra_args(false);
  app.add_option("--store", arguments->store, "the same as --set store.path=...")->take_last();
  app.add_option("--engine", arguments->engine, "the same as --set engine.mode=...: embedded or daemon")
      ->check(CLI::IsMember({"embedded", "daemon"}));
  app.add_option("--json", arguments->json_file, "write the summary to this file, for programs");
  app.footer(
      "\nThe program and its arguments stand behind --: perdure run --restarts 5 -- mpirun -n 4 ./simulation input\n"
      "Ends with the program's status, 128 + signal when it was killed, 127 when there is no such program.\n");
  return [arguments](Terminal& terminal) { return run(*arguments, terminal); };
}

}  // namespace perdure::cli
