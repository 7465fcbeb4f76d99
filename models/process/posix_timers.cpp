#include "process/posix_timers.hpp"

#include <signal.h>

#include <algorithm>

#include "process/fields_of_text.hpp"

namespace perdure::process {
namespace {

constexpr std::int32_t kMostTimers = 1 << 16;

/// Parses notification and receiver: "signal/tid.812".
bool parse_notify(std::string_view text, PosixTimer& timer) {
  const auto slash = text.find('/'), dot = text.find('.');
  if (slash == std::string_view::npos || dot == std::string_view::npos || dot < slash) return false;
  const auto how = text.substr(0, slash);
  const bool one = text.substr(slash + 1, dot - slash - 1) == "tid";
  if (how == "none") {
    timer.notify = SIGEV_NONE;
  } else if (how == "signal" || how == "thread") {
    timer.notify = one ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
  } else {
    return false;
  }
  return !one || number_of(text.substr(dot + 1), timer.thread);
}

bool parse_signal(std::string_view text, PosixTimer& timer) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || !number_of(text.substr(0, slash), timer.signal)) return false;
  text.remove_prefix(slash + 1);
  if (text.starts_with("0x")) text.remove_prefix(2);
  return number_of(text, timer.value, 16);
}

/// Parses a line of a timer. Its first line is "ID".
bool parse_timer_line(std::string_view line, std::vector<PosixTimer>& timers) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return false;
  const auto key = line.substr(0, colon), value = trimmed(line.substr(colon + 1));
  if (key == "ID") return number_of(value, timers.emplace_back().id);
  if (timers.empty()) return false;
  if (key == "signal") return parse_signal(value, timers.back());
  if (key == "notify") return parse_notify(value, timers.back());
  return key != "ClockID" || number_of(value, timers.back().clock);
}

}  // namespace

std::string PosixTimer::wrong() const {
  if (id < 0 || id > kMostTimers) return "field 'id' is none of a timer";
  if (notify != SIGEV_NONE && (signal < 1 || signal > 64)) return "field 'signal' is none";
  return setting[1] < 0 || setting[1] >= 1'000'000'000 || setting[3] < 0 || setting[3] >= 1'000'000'000
             ? "field 'setting' has no such time"
             : "";
}

std::optional<std::vector<PosixTimer>> parse_timers(std::string_view text) {
  std::vector<PosixTimer> timers;
  if (!each_line(text, [&](std::string_view line) { return parse_timer_line(line, timers); })) return std::nullopt;
  std::sort(timers.begin(), timers.end(), [](const PosixTimer& a, const PosixTimer& b) { return a.id < b.id; });
  return timers;
}

}  // namespace perdure::process
