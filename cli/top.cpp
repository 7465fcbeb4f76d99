// perdure top shows a live view of the engines on this machine, so that every wait can be explained. It changes
// nothing.
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "base/json.hpp"
#include "cli/arguments.hpp"
#include "cli/configuration.hpp"
#include "cli/engine_text.hpp"
#include "cli/verb.hpp"

namespace perdure::cli {
namespace {

struct TopArguments {
  bool json = false, once = false;
  double interval_s = 2;
  std::size_t decisions = 8;
};

/// Gives the text of one look at all engines; an error: none could be asked.
base::Result<std::string> looked(const TopArguments& arguments, const config::Config& config) {
  PERDURE_TRY(const auto states, ask_engines(config));
  std::string text = states.empty() ? no_engine_text(config) : "";
  for (const EngineState& state : states) text += (text.empty() ? "" : "\n") + engine_text(state, arguments.decisions);
  return text;
}

int show_json(const config::Config& config, Terminal& terminal) {
  const auto states = ask_engines(config);
  if (!states) return report(terminal, states.error());
  base::Json engines = base::Json::array();
  for (const EngineState& state : *states) engines.push_back(engine_json(state));
  print_json(terminal, {{"engines", engines}, {"looked_in", places_of_engines(config)}});
  return kGood;
}

/// Replaces everything on a screen by the part that fits there.
int show_text(const TopArguments& arguments, const config::Config& config, bool screen, Terminal& terminal) {
  const auto text = looked(arguments, config);
  if (!text) return report(terminal, text.error());
  winsize window{};
  const bool fits =
      screen && ::ioctl(::fileno(terminal.out), TIOCGWINSZ, &window) == 0 && window.ws_col > 1 && window.ws_row > 1;
  if (screen) print_as_it_is(terminal.out, "\x1b[H\x1b[2J");
  print(terminal.out, fits ? fitted(*text, window.ws_col, window.ws_row) : *text);
  return kGood;
}

/// Waits between two looks; false when the user ends it, as by Ctrl-C, which is no failure.
class Pause {
 public:
  Pause() {
    sigemptyset(&set_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, signal);
    ::pthread_sigmask(SIG_BLOCK, &set_, &before_);
  }
  Pause(const Pause&) = delete;
  Pause& operator=(const Pause&) = delete;
  ~Pause() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  bool wait(double seconds) const {
    const timespec left{static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1) * 1e9)};
    return ::sigtimedwait(&set_, nullptr, &left) < 0;
  }

 private:
  sigset_t set_{}, before_{};
};

int show(const TopArguments& arguments, Terminal& terminal) {
  const auto config = configuration(terminal);
  if (!config) return report(terminal, config.error());
  const bool screen = ::isatty(::fileno(terminal.out)) == 1 && !arguments.json && !arguments.once;
  const Pause pause;
  for (;;) {
    const int status = arguments.json ? show_json(*config, terminal) : show_text(arguments, *config, screen, terminal);
    std::fflush(terminal.out);
    const bool over = status != kGood || arguments.once || std::ferror(terminal.out) != 0;
    if (over || !pause.wait(arguments.interval_s)) return status;
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
