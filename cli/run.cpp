// perdure run launches a program under supervision. Its standard input, output and error pass through untouched.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdlib>

#include "cli/arguments.hpp"
#include "cli/check_protection.hpp"
#include "cli/configuration.hpp"
#include "cli/libraries.hpp"
#include "cli/node_arguments.hpp"
#include "cli/run_summary.hpp"
#include "cli/verb.hpp"
#include "os/system.hpp"
#include "reader/inventory.hpp"

namespace perdure::cli {
namespace {

struct RunArguments {
  plan::RelaunchPolicy policy;
  NodeArguments nodes;
  std::string engine, store, json_file, restore_from;
  bool check_protection = false;
};

/// Gives the settings of the command line as variables for the program. It adds the identity that its restarts share,
/// and has it print what it waits for.
base::Result<Environment> environment_for(const config::Config& config) {
  Environment environment;
  for (const auto& [key, value] : config.values()) {
    const config::Option* option = config::find_option(key);
    if (value.origin == config::Origin::command_line) environment.emplace_back(option->environment, value.text);
  }
  if (config.value("launch").origin == config::Origin::default_value)
    environment.emplace_back("PERDURE_LAUNCH", fmt::format("run-{:016x}", os::random_u64()));
  if (config.value("messages").origin == config::Origin::default_value)
    environment.emplace_back("PERDURE_MESSAGES", "stderr");
  return environment;
}

base::Result<config::Config> configuration_for(const RunArguments& arguments, const Terminal& terminal) {
  PERDURE_TRY(auto config, configuration_as_given(terminal));
  if (!arguments.engine.empty())
    PERDURE_CHECK(config.set("engine.mode", arguments.engine, config::Origin::command_line, "--engine"));
  if (!arguments.store.empty())
    PERDURE_CHECK(config.set("store.path", arguments.store, config::Origin::command_line, "--store"));
  return config;
}

/// A missing store has no versions.
Versions look_into(const config::Config& config) {
  auto store = store::make_store(config.text("store.path"), config.below("store."));
  if (!store) return {};
  return reader::newest_complete(**store).value_or(Versions{});
}

// Another signal that asks to stop ends the wait.
std::vector<Unstored> flush_rest(const config::Config& config, const std::function<void(const std::string&)>& announce,
                                 Supervisor& supervisor) {
  const auto pause = [&](double seconds) { return !supervisor.sleep(seconds); };
  return flush_unstored(config, {announce, pause, os::monotonic_ns});
}

int run(const RunArguments& arguments, Terminal& terminal) {
  if (terminal.program.empty())
    return report(terminal, {PERDURE_INVALID_ARGUMENT, "run", "no program given",
                             "perdure run [OPTIONS] -- PROGRAM [ARGUMENTS]; perdure run --help", false});
  auto config = configuration_for(arguments, terminal);
  if (!config) return report(terminal, config.error());
  auto environment = environment_for(*config);
  if (!environment) return report(terminal, environment.error());

  const auto announce = [&](const std::string& line) { print(terminal.err, "perdure: " + line + "\n"); };
  if (arguments.check_protection && !(arguments.nodes.hosts + arguments.nodes.host_file).empty() &&
      config->text("engine.mode") == "daemon")
    return report(terminal, {PERDURE_INVALID_ARGUMENT, "--check-protection",
                             "engines that are processes of their own (engine.mode=daemon) on other hosts may flush on "
                             "while their checkpoints are compared",
                             "--engine embedded, or leave out the hosts", false});
  auto nodes = make_node_keeper(arguments.nodes, *config, terminal.program, announce);
  if (!nodes) return report(terminal, nodes.error());

  if (arguments.check_protection) {
    ProcessSupervisor supervisor;
    return check_protection({terminal.program, *config, arguments.restore_from, announce, nodes->get()}, supervisor,
                            arguments.json_file, terminal);
  }
  const Loop loop{terminal.program, *environment, arguments.policy, [&] { return look_into(*config); },
                  announce,         nodes->get()};
  ProcessSupervisor supervisor(config->real("run.grace"));
  LoopSummary summary = run_loop(loop, supervisor);
  const auto unstored = flush_rest(*config, announce, supervisor);
  summary.versions = look_into(*config);
  summary.status = plan::status_with_store(summary.status, unstored.empty());
  tell(summary, unstored, nodes->get(), arguments.json_file, terminal);
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
  app.add_option("--store", arguments->store, "the same as --set store.path=...")->take_last();
  app.add_option("--engine", arguments->engine, "the same as --set engine.mode=...: embedded or daemon")
      ->check(CLI::IsMember({"embedded", "daemon"}));
  add_node_options(app, arguments->nodes);
  app.add_option("--json", arguments->json_file, "write the summary to this file, for programs; -: to standard output");
  auto* check = app.add_flag("--check-protection", arguments->check_protection,
                             "run it undisturbed and from a restored version, and name the regions that differ: "
                             "something they depend on is not protected, or was moved");
  app.add_option("--restore-from", arguments->restore_from,
                 "VERSION or NAME@VERSION that --check-protection goes on from")
      ->needs(check)
      ->take_last();
  app.footer(
      "\nThe program and its arguments stand behind --: perdure run --restarts 5 -- mpirun -n 4 ./simulation input\n"
      "Ends with the program's status, 128 + signal when it was killed, 127 when there is no such program; with 75 "
      "when\n"
      "that would be 0 and a checkpoint on this machine did not reach the store.\n");
  return [arguments](Terminal& terminal) { return run(*arguments, terminal); };
}

}  // namespace perdure::cli
