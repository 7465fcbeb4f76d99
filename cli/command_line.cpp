// Parses the command line and runs one verb.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <sstream>

#include "base/json.hpp"
#include "base/printable.hpp"
#include "cli/configuration.hpp"
#include "cli/help_format.hpp"
#include "cli/help_topics.hpp"
#include "cli/manual.hpp"
#include "cli/overview.hpp"
#include "cli/usage.hpp"
#include "cli/verb.hpp"
#include "perdure/perdure.h"

namespace perdure::cli {
namespace {

constexpr const char* kFooter =
    "\nExit status: 0 good; 1 the answer is bad (defects, problems); 2 wrong usage; 3 could not be done.\n"
    "`perdure run` and `launch` end with the status of their program (128 + signal when it was killed).\n";

std::string json_text(const base::Json& json) {
  // Writes ASCII: it may be shown on a terminal, which no text in it may control.
  return json.dump(2, ' ', true, base::Json::error_handler_t::replace) + "\n";
}

std::string version() {
  return "perdure " + std::to_string(PERDURE_VERSION_MAJOR) + "." + std::to_string(PERDURE_VERSION_MINOR) + "." +
         std::to_string(PERDURE_VERSION_PATCH);
}

/// Gives the arguments that are for us. Those of a program to run are split off first: they may look like anything.
std::vector<std::string> ours(const std::vector<std::string>& arguments, Terminal& terminal, bool& dashes) {
  if (!takes_program(arguments.front())) return arguments;
  const auto at = std::find(arguments.begin(), arguments.end(), "--");
  dashes = at != arguments.end();
  if (dashes) terminal.program.assign(at + 1, arguments.end());
  return {arguments.begin(), at};
}

/// Replaces other words that people try by existing ones.
std::vector<std::string> known_words(const std::vector<std::string>& typed) {
  if (typed.size() == 1 && (typed[0] == "version" || typed[0] == "-V")) return {"--version"};
  if (typed.size() == 2 && typed[0] == "help") return {typed[1], "--help"};
  return typed;
}

/// The installation writes `help --man [VERB]` and `help --completion`. Empty: the user asks for something else.
std::string text_for_others(const CLI::App& app, const std::vector<std::string>& typed) {
  if (typed.size() < 2 || typed[0] != "help") return {};
  if (typed.size() == 2 && typed[1] == "--completion") return bash_completion(app);
  return typed[1] == "--man" && typed.size() < 4 ? manual_page(app, typed.size() == 3 ? typed[2] : "") : "";
}

/// A user who asks for JSON gets errors of the command line as JSON, too; so this is found out before it is parsed.
/// Without "--", the file may be one that the program to run is to write: it is not touched.
void find_json(const std::vector<std::string>& words, bool dashes, Terminal& terminal) {
  constexpr std::string_view kJson = "--json", kWithFile = "--json=";
  const auto end = std::find(words.begin(), words.end(), "--");
  const bool run = takes_program(words.front());
  for (auto word = words.begin(); word != end; ++word) {
    if (run && dashes && word->starts_with(kWithFile)) terminal.json_file = word->substr(kWithFile.size());
    if (*word != kJson) continue;
    terminal.json = !run;
    if (!run || !dashes || word + 1 == end) continue;
    if (*(word + 1) == "-" || !(word + 1)->starts_with('-')) terminal.json_file = *(word + 1);
  }
}

/// Adds the options that every verb has.
void add_common(CLI::App& verb, Terminal& terminal) {
  verb.add_option("--set", terminal.settings,
                  "a setting KEY=VALUE that goes before files and environment (repeatable); perdure config lists them")
      ->allow_extra_args(false);
}

int explain(const CLI::App& app, const std::vector<std::string>& words, bool dashes, const CLI::ParseError& error,
            Terminal& terminal) {
  if (error.get_exit_code() != 0) return report(terminal, usage_error(app, words, dashes, error));
  std::ostringstream out, err;
  app.exit(error, out, err);
  print(terminal.out, out.str());
  return kGood;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments, Terminal& terminal) {
  if (arguments.empty() || arguments == std::vector<std::string>{"help"}) {
    print(terminal.out, overview());
    return arguments.empty() ? kUsage : kGood;
  }
  CLI::App app{"Perdure, the resilience runtime for parallel programs: inspects stores and runs programs.", "perdure"};
  app.set_version_flag("--version", version());
  app.require_subcommand(1);
  app.formatter(help_formatter());
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Verb& verb : verbs()) {
    CLI::App* sub = app.add_subcommand(verb.name, verb.summary);
    actions.emplace_back(sub, verb.enrol(*sub));
    add_common(*sub, terminal);
    sort_by_topic(*sub);
  }
  app.footer(kFooter);  // the last one: each verb would inherit it
  if (const auto text = text_for_others(app, arguments); !text.empty()) {
    print_as_it_is(terminal.out, text);
    return kGood;
  }
  bool dashes = false;
  const std::vector<std::string> words = ours(known_words(arguments), terminal, dashes);
  find_json(words, dashes, terminal);
  if (const auto wrong = unknown_verb(app, words)) return report(terminal, *wrong);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // backwards, as CLI11 wants them
  } catch (const CLI::ParseError& error) {
    return explain(app, words, dashes, error, terminal);
  }
  if (const auto set = check_settings(terminal); !set) return report(terminal, set.error());
  for (const auto& [sub, action] : actions)
    if (sub->parsed()) return action(terminal);
  return kUsage;
}

void warn(Terminal& terminal, const base::Error& error) { print(terminal.err, "perdure: " + error.text() + "\n"); }

int report(Terminal& terminal, const base::Error& error) {
  warn(terminal, error);
  const base::Json json = {{"error", error_json(error)}};
  if (terminal.json) print_json(terminal, json);
  if (!terminal.json_file.empty() && !write_json(json, terminal.json_file))
    warn(terminal, base::errno_error(errno, "open", terminal.json_file));
  return error.code == PERDURE_INVALID_ARGUMENT ? kUsage : kCannot;
}

bool write_json(const base::Json& json, const std::string& path) {
  const bool to_output = path == "-";
  std::FILE* file = to_output ? ::fdopen(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "w")
                              : std::fopen(path.c_str(), "we");  // not by a rename: it may be /dev/stderr
  if (file == nullptr) return false;
  print(file, json_text(json));
  return std::fclose(file) == 0;
}

void print(std::FILE* file, const std::string& text) { print_as_it_is(file, base::printable_lines(text)); }

void print_as_it_is(std::FILE* file, const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file);
  std::fflush(file);
}

void print_json(Terminal& terminal, const base::Json& json) { print(terminal.out, json_text(json)); }

base::Json error_json(const base::Error& error) {
  return {{"code", base::code_name(error.code)},
          {"object", error.object},
          {"cause", error.cause},
          {"remedy", error.remedy},
          {"retryable", error.retryable}};
}

}  // namespace perdure::cli
