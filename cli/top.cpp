// perdure top: a live view of the engines on this machine, so that every wait can be explained. Changes nothing.
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/configuration.hpp"
#include "cli/engine_text.hpp"
#include "cli/verb.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

struct TopArguments {
  bool json = false, once = false;
  double interval_s = 2;
  std::size_t decisions = 8;
};

int show_once(const TopArguments& arguments, const config::Config& config, Terminal& terminal) {
  const auto states = ask_engines(config);
  if (!states) return report(terminal, states.error());
  if (arguments.json) {
    base::Json engines = base::Json::array();
    for (const EngineState& state : *states) engines.push_back(engine_json(state));
    print_json(terminal, {{"engines", engines}, {"looked_in", places_of_engines(config)}});
    return kGood;
  }
  std::string text = states->empty() ? no_engine_text(config) : "";
  for (const EngineState& state : *states) text += (text.empty() ? "" : "\n") + engine_text(state, arguments.decisions);
  print(terminal.out, text);
  return kGood;
}

int show(const TopArguments& arguments, Terminal& terminal) {
  const auto config = configuration(terminal);
  if (!config) return report(terminal, config.error());
  const bool screen = ::isatty(::fileno(terminal.out)) == 1 && !arguments.json;
  for (;;) {
    if (screen && !arguments.once) print_as_it_is(terminal.out, "\x1b[H\x1b[2J");
    const int status = show_once(arguments, *config, terminal);
    std::fflush(terminal.out);
    if (status != kGood || arguments.once || std::ferror(terminal.out) != 0) return status;
    os::sleep_ns(static_cast<std::uint64_t>(arguments.interval_s * 1e9));
  }
}

}  // namespace

Action enrol_top(CLI::App& app) {
  auto arguments = std::make_shared<TopArguments>();
  app.add_flag("--once", arguments->once, "show it and end");
  app.add_option("--interval", arguments->interval_s, "seconds between two looks")
      ->check(within(0.05, 86400.0))
      ->capture_default_str();
  app.add_option("--decisions", arguments->decisions, "so many of the last decisions (at most 64)")
      ->check(within(0, 64))
      ->capture_default_str();
  app.add_flag("--json", arguments->json, "for programs: one value per look");
  return [arguments](Terminal& terminal) { return show(*arguments, terminal); };
}

}  // namespace perdure::cli
