// perdure halt asks the programs that write a checkpoint to make a last one and to end, now or at a date.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <ctime>
#include <optional>

#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "cli/open_store.hpp"
#include "cli/verb.hpp"
#include "os/system.hpp"
#include "store/halt_record.hpp"

namespace perdure::cli {
namespace {

struct HaltArguments {
  std::string name, store, after;
  bool now = false, off = false, json = false;
};

constexpr std::uint64_t kSecond_ns = 1'000'000'000;

// Reads local time, unless a Z says that it is UTC.
std::optional<std::uint64_t> date_ns(std::string text) {
  const bool utc = !text.empty() && text.back() == 'Z';
  if (utc) text.pop_back();
  for (const char* form : {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"}) {
    std::tm parts{};
    const char* const end = ::strptime(text.c_str(), form, &parts);
    if (end == nullptr || *end != '\0') continue;
    parts.tm_isdst = -1;
    const std::time_t seconds = utc ? ::timegm(&parts) : std::mktime(&parts);
    if (seconds > 0) return static_cast<std::uint64_t>(seconds) * kSecond_ns;
  }
  return std::nullopt;
}

std::string date_text(std::uint64_t at_ns) {
  const auto seconds = static_cast<std::time_t>(at_ns / kSecond_ns);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string check_date(const std::string& text) {
  return date_ns(text) ? std::string()
                       : "'" + text + "' is no date; write 2026-11-29T18:00, local time, or 2026-11-29T17:00Z";
}

int show(const std::string& name, std::uint64_t at_ns, bool json, Terminal& terminal) {
  if (json) {
    print_json(terminal, {{"name", name}, {"halt_at", at_ns == 0 ? base::Json() : base::Json(date_text(at_ns))}});
  } else if (at_ns == 0) {
    print(terminal.out, fmt::format("{}: nobody asks its programs to end\n", name));
  } else {
    print(terminal.out,
          fmt::format("{}: programs that run at {} are asked to checkpoint and end\n", name, date_text(at_ns)));
  }
  return kGood;
}

int halt(const HaltArguments& arguments, Terminal& terminal) {
  auto store = open_store(arguments.store, terminal);
  if (!store) return report(terminal, store.error());
  std::optional<std::uint64_t> at_ns;
  if (arguments.now) at_ns = os::wall_clock_ns();
  if (arguments.off) at_ns = 0;
  if (!arguments.after.empty()) at_ns = date_ns(arguments.after);
  if (at_ns)
    if (const auto set = store::set_halt(**store, arguments.name, *at_ns); !set) return report(terminal, set.error());
  const auto found = store::halt_at(**store, arguments.name);
  if (!found) return report(terminal, found.error());
  return show(arguments.name, *found, arguments.json, terminal);
}

}  // namespace

Action enrol_halt(CLI::App& app) {
  auto arguments = std::make_shared<HaltArguments>();
  app.add_option("NAME", arguments->name, "the checkpoint, without a version")->required();
  auto* when = app.add_option_group("when", "without one of these: say what is asked for");
  when->add_flag("--now", arguments->now, "programs that run now");
  when->add_option("--after", arguments->after,
                   "those that run at DATE: 2026-11-29T18:00 (local time), or with Z (UTC)")
      ->type_name("DATE")
      ->check(check_date);
  when->add_flag("--off", arguments->off, "take it back");
  when->require_option(0, 1);
  app.add_option("--store", arguments->store, "the store; by default the configured one (store.path)");
  app.add_flag("--json", arguments->json, "for programs");
  app.footer(
      "\nA program hears of it in perdure_due(), within some seconds, and ends by itself behind a checkpoint. One that "
      "is\n"
      "started later goes on: the request is for those that run at that time.\n");
  return [arguments](Terminal& terminal) { return halt(*arguments, terminal); };
}

}  // namespace perdure::cli
