// Parses the command line and runs one verb.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/json.hpp"
#include "cli/verb.hpp"
#include "perdure/perdure.h"

namespace perdure::cli {
namespace {

constexpr const char* kFooter =
    "\nExit status: 0 good; 1 the answer is bad (defects, problems); 2 wrong usage; 3 could not be done.\n"
    "`perdure run` ends with the status of its program (128 + signal when it was killed).\n";

std::string version() {
  return "perdure " + std::to_string(PERDURE_VERSION_MAJOR) + "." + std::to_string(PERDURE_VERSION_MINOR) + "." +
         std::to_string(PERDURE_VERSION_PATCH);
}

int explain(const CLI::App& app, const CLI::ParseError& error, Terminal& terminal) {
  std::ostringstream out, err;
  const int status = app.exit(error, out, err);
  print(terminal.out, out.str());
  print(terminal.err, err.str());
  if (status != 0 && app.got_subcommand("run") && terminal.program.empty())
    print(terminal.err, "The program to run stands behind --: perdure run [OPTIONS] -- PROGRAM [ARGUMENTS]\n");
  return status == 0 ? kGood : kUsage;
}

/// The arguments that are for us. Those of a program to run are split off first: they may look like anything.
std::vector<std::string> ours(const std::vector<std::string>& arguments, Terminal& terminal) {
  if (arguments.empty() || arguments.front() != "run") return arguments;
  const auto dashes = std::find(arguments.begin(), arguments.end(), "--");
  if (dashes != arguments.end()) terminal.program.assign(dashes + 1, arguments.end());
  return {arguments.begin(), dashes};
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, Terminal& terminal) {
  CLI::App app{"Perdure, the resilience runtime for parallel programs: inspects stores and runs programs.", "perdure"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.footer(kFooter);
  app.failure_message(CLI::FailureMessage::simple);
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Verb& verb : verbs()) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    actions.emplace_back(sub, verb.enrol(*sub));
  }
  std::vector<std::string> reversed = ours(arguments, terminal);
  std::reverse(reversed.begin(), reversed.end());  // as CLI11 wants them
  try {
    app.parse(reversed);
  } catch (const CLI::ParseError& error) {
    return explain(app, error, terminal);
  }
  for (const auto& [sub, action] : actions)
    if (sub->parsed()) return action(terminal);
  return kUsage;
}

int report(Terminal& terminal, const base::Error& error) {
  print(terminal.err, "perdure: " + error.text() + "\n");
  return error.code == PERDURE_INVALID_ARGUMENT ? kUsage : kCannot;
}

void print(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

void print_json(Terminal& terminal, const base::Json& json) {
  print(terminal.out, json.dump(2, ' ', false, base::Json::error_handler_t::replace) + "\n");
}

base::Json error_json(const base::Error& error) {
  return {{"code", base::code_name(error.code)},
          {"object", error.object},
          {"cause", error.cause},
          {"remedy", error.remedy}};
}

}  // namespace perdure::cli
