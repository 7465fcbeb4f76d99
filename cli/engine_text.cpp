#include "cli/engine_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "cli/libraries.hpp"
#include "cli/verb.hpp"
#include "inspect/table.hpp"
#include "os/system.hpp"

namespace perdure::cli {
namespace {

using base::Json;
using Right = Table::Align;

// Shows an engine's answer as far as it can be understood.
const Json& list(const Json& json, const char* key) {
  static const Json kEmpty = Json::array();
  const auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_array() ? *it : kEmpty;
}
double number(const Json& json, const char* key) {
  const auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_number() ? it->get<double>() : 0;
}
std::string text(const Json& json, const char* key) {
  const auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_string() ? it->get<std::string>() : "";
}
bool flag(const Json& json, const char* key) {
  const auto it = json.is_object() ? json.find(key) : json.end();
  return it != json.end() && it->is_boolean() && it->get<bool>();
}
std::string count(const Json& json, const char* key) { return fmt::format("{:.0f}", number(json, key)); }
std::string size(const Json& json, const char* key) {
  return base::format_bytes(static_cast<std::uint64_t>(std::clamp(number(json, key), 0.0, 1e18)));
}

/// Says the source of the predictions: "calibrated 2026-11-21, refined by 12 writes".
std::string model_text(const Json& tier) {
  static const Json kNone;
  const auto it = tier.is_object() ? tier.find("model") : tier.end();
  const Json& model = it == tier.end() ? kNone : *it;
  std::string source = text(model, "source");
  if (source == "calibrated")
    source +=
        " " + date_text(static_cast<std::uint64_t>(std::clamp(number(model, "calibrated_ns"), 0.0, 1e19)), "%Y-%m-%d");
  const double writes = number(tier, "observations");
  if (writes > 0) source += fmt::format(", refined by {:.0f} write{}", writes, writes == 1 ? "" : "s");
  return source;
}

std::string tiers_text(const Json& engine) {
  Table table({{"tier", Right::left},
               {"slots", Right::right},
               {"free", Right::right},
               {"to come", Right::right},
               {"unflushed", Right::right},
               {"writers", Right::right},
               {"readers", Right::right},
               {"predicted/s", Right::right},
               {"", Right::left}});
  for (const Json& tier : list(engine, "tiers")) {
    const std::string note = (flag(tier, "failed") ? "failed, " : "") + model_text(tier);
    table.row({text(tier, "name"), count(tier, "slots"), count(tier, "free_slots"), count(tier, "slots_to_come"),
               count(tier, "chunks_unflushed"), count(tier, "writers"), count(tier, "readers"),
               size(tier, "predicted_bytes_per_s"), note});
  }
  return table.text();
}

std::string flush_text(const Json& engine) {
  const auto it = engine.find("flush");
  const Json flush = it == engine.end() ? Json::object() : *it;
  // Some are held back for flush.max_slowdown, or because the flush would be no faster with them.
  const std::string held_back =
      number(flush, "threads_held_back") > 0 ? " (" + count(flush, "threads_held_back") + " held back)" : "";
  return fmt::format("flush: {}/s (+- {}/s), {} of {} threads{}, {} stored, {} to go, {} chunks moved\n",
                     size(flush, "bytes_per_s"), size(flush, "deviation_bytes_per_s"), count(flush, "chunks_under_way"),
                     count(flush, "threads"), held_back, size(flush, "bytes_flushed"), size(flush, "bytes_pending"),
                     count(flush, "chunks_moved"));
}

/// Lists the steps in their order, and why one failed: "replicate (off), flush (running, 2 wait, 7 done), ...".
std::string pipeline_text(const Json& engine) {
  std::string steps, failures;
  for (const Json& step : list(engine, "pipeline")) {
    const bool off = text(step, "state") == "off";
    const std::string waiting = number(step, "waiting") > 0 ? ", " + count(step, "waiting") + " wait" : "";
    const std::string left_out = number(step, "left_out") > 0 ? ", " + count(step, "left_out") + " left out" : "";
    steps += fmt::format("{}{} ({}{}{}{})", steps.empty() ? "" : ", ", text(step, "name"), text(step, "state"), waiting,
                         off ? "" : ", " + count(step, "done") + " done", left_out);
    if (!text(step, "reason").empty())
      failures += fmt::format("step {}: {}\n", text(step, "name"), text(step, "reason"));
  }
  return steps.empty() ? "" : "pipeline: " + steps + "\n" + failures;
}

/// Says how much flushing costs the application, as far as steps with and without a flush could be compared.
std::string application_text(const Json& engine) {
  const auto it = engine.find("application");
  const Json application = it == engine.end() ? Json::object() : *it;
  const double steps = number(application, "steps");
  const bool known = application.contains("slowdown") && application["slowdown"].is_number();
  if (!known) return fmt::format("application: unknown whether flushes slow it down ({:.0f} steps seen)\n", steps);
  return fmt::format("application: {:.1f} % slower while a flush runs (steps of {:.3g} s, {:.0f} seen)\n",
                     100 * number(application, "slowdown"), number(application, "step_s"), steps);
}

std::string queue_text(const Json& engine) {
  std::string lines;
  for (const Json& waiting : list(engine, "queue"))
    lines += fmt::format("waiting: rank {} for {}, {:.1f} s: {}\n", count(waiting, "rank"), text(waiting, "for"),
                         number(waiting, "seconds"), text(waiting, "text"));
  return lines;
}

/// Lists the captures in progress, and how much of each is at the store already.
std::string captures_text(const Json& engine) {
  std::string lines;
  for (const Json& capture : list(engine, "captures")) {
    lines += fmt::format("capture: {} version {}, {}, {} of {} chunks written", text(capture, "name"),
                         count(capture, "version"), size(capture, "bytes"), count(capture, "chunks_written"),
                         count(capture, "chunks"));
    if (flag(capture, "flushed_meanwhile"))
      lines += fmt::format("; flushed meanwhile: {} chunks, {} of them moved out of their slots",
                           count(capture, "chunks_flushed"), count(capture, "chunks_moved"));
    lines += (text(capture, "error").empty() ? "" : " (" + text(capture, "error") + ")") + "\n";
  }
  return lines;
}

bool is_captured(const Json& engine, const Json& version) {
  const Json& captures = list(engine, "captures");
  return std::any_of(captures.begin(), captures.end(), [&](const Json& capture) {
    return text(capture, "name") == text(version, "name") && number(capture, "version") == number(version, "version");
  });
}

std::string versions_text(const Json& engine) {
  std::string lines;
  for (const Json& version : list(engine, "versions")) {
    if (text(version, "state") == "stored" || is_captured(engine, version)) continue;
    const std::string moved =
        number(version, "chunks_moved") > 0 ? ", " + count(version, "chunks_moved") + " chunks moved" : "";
    lines +=
        fmt::format("pending: {} version {}, {}, {}{}: {}{}\n", text(version, "name"), count(version, "version"),
                    size(version, "bytes"), size(version, "bytes_flushed") + " flushed", moved, text(version, "state"),
                    text(version, "error").empty() ? "" : " (" + text(version, "error") + ")");
  }
  return lines;
}

/// Writes "newest: app: process 3150 (1 s ago), store 3100 (3 s ago)".
std::string names_text(const Json& engine, std::uint64_t now_ns) {
  std::string lines;
  for (const Json& name : list(engine, "names")) {
    std::string levels;
    for (const char* level : {"process", "node", "store"}) {
      const auto newest = name.find(level);
      if (newest == name.end()) continue;
      const double age_s = std::max(0.0, (static_cast<double>(now_ns) - number(*newest, "begun_ns")) * 1e-9);
      levels += fmt::format("{}{} {} ({} ago)", levels.empty() ? "" : ", ", level, count(*newest, "version"),
                            age_text(age_s));
    }
    lines += fmt::format("newest: {}: {}\n", text(name, "name"), levels);
  }
  return lines;
}

std::string decisions_text(const Json& engine, std::size_t most) {
  std::string lines;
  if (const auto reasons = engine.find("reasons"); reasons != engine.end() && reasons->is_object())
    for (const auto& [reason, times] : reasons->items())
      if (times.is_number()) lines += fmt::format("{}{} {}", lines.empty() ? "" : ", ", reason, times.get<double>());
  lines = "decisions: " + (lines.empty() ? "none" : lines) + "\n";
  const Json& all = list(engine, "decisions");
  for (std::size_t i = all.size() - std::min(all.size(), most); i < all.size(); ++i) {
    const Json& d = all[i];
    const std::string where = text(d, "tier").empty() ? "no slot" : text(d, "tier");
    lines += fmt::format("  {} version {}, rank {}: {}: {} (tier {}/s, flush {}/s){}\n", text(d, "name"),
                         count(d, "version"), count(d, "rank"), where, text(d, "text"), size(d, "tier_bytes_per_s"),
                         size(d, "flush_bytes_per_s"), number(d, "times") > 1 ? ", x" + count(d, "times") : "");
  }
  return lines;
}

}  // namespace

Json engine_json(const EngineState& state) {
  Json json = state.overview ? *state.overview : Json{{"error", error_json(state.overview.error())}};
  json["directory"] = state.directory;
  return json;
}

std::string age_text(double seconds) {
  constexpr double kMinute = 60, kHour = 60 * kMinute, kDay = 24 * kHour;
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return seconds < 2 * kDay ? fmt::format("{:.0f} h", seconds / kHour) : fmt::format("{:.0f} days", seconds / kDay);
}

std::string fitted(const std::string& text, std::size_t columns, std::size_t rows) {
  std::string shown;
  std::size_t lines = 0, left_out = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (++lines >= rows && at < text.size()) {  // the last row counts the missing lines
      left_out =
          static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), '\n')) + 1;
      break;
    }
    shown += (line.size() <= columns ? line : line.substr(0, columns - 1) + ">") + "\n";
  }
  if (left_out > 0) shown += fmt::format("{} more lines: perdure top --once", left_out).substr(0, columns);
  return shown;
}

std::string engine_text(const EngineState& state, std::size_t decisions) {
  if (!state.overview) return state.directory + ": " + base::printable(state.overview.error().text()) + "\n";
  const Json& engine = *state.overview;
  const std::string cpus = base::printable(text(engine, "cpus"));
  return fmt::format("{}: process {}{}, {} clients, {} waiting, policy {}\n", state.directory, count(engine, "process"),
                     cpus.empty() ? "" : " on processors " + cpus, count(engine, "clients"), count(engine, "waiting"),
                     text(engine, "policy")) +
         base::printable_lines(names_text(engine, os::wall_clock_ns())) + tiers_text(engine) +
         base::printable_lines(pipeline_text(engine) + flush_text(engine) + application_text(engine) +
                               queue_text(engine) + captures_text(engine) + versions_text(engine) +
                               decisions_text(engine, decisions));
}

}  // namespace perdure::cli
