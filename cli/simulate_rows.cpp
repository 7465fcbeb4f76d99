#include "cli/simulate_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "cli/libraries.hpp"
#include "inspect/table.hpp"

namespace perdure::cli {
namespace {

namespace fs = std::filesystem;

std::uint64_t cache_bytes(const SimulatedRow& row) { return row.scenario.node.tiers.front().capacity_bytes; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

using Runs = std::vector<const SimulatedRow*>;

double median_of(const Runs& runs, double (*figure)(const SimulatedRow&)) {
  std::vector<double> values;
  for (const SimulatedRow* run : runs) values.push_back(figure(*run));
  return median(std::move(values));
}

std::vector<std::string> cells(const Runs& runs) {
  const SimulatedRow& first = *runs.front();
  const auto& s = first.scenario;
  return {
      std::to_string(s.nodes),
      std::to_string(s.writers),
      std::to_string(s.chunks),
      cache_bytes(first) == 0 ? "unlimited" : base::format_bytes(cache_bytes(first)),
      first.policy,
      fmt::format("{:.2f}", median_of(runs, [](const auto& r) { return r.outcome.local_phase_s; })),
      fmt::format("{:.2f}", median_of(runs, [](const auto& r) { return r.outcome.flush_completion_s; })),
      fmt::format("{:.0f}",
                  median_of(runs, [](const auto& r) { return static_cast<double>(r.outcome.chunks.back()); })),
      fmt::format("{:.0f}", median_of(runs, [](const auto& r) { return static_cast<double>(r.outcome.waits); })),
      fmt::format("{:.2f}", median_of(runs, [](const auto& r) { return 100 * r.slow_down; })),
      first.plan,
  };
}

}  // namespace

base::Json row_json(const SimulatedRow& row) {
  base::Json chunks = base::Json::object();
  for (std::size_t i = 0; i < row.outcome.chunks.size(); ++i)
    chunks[row.scenario.node.tiers[i].name] = row.outcome.chunks[i];
  base::Json json = {{"policy", row.policy},
                     {"nodes", row.scenario.nodes},
                     {"writers", row.scenario.writers},
                     {"chunks", row.scenario.chunks},
                     {"chunk_bytes", row.scenario.chunk_bytes},
                     {"cache", cache_bytes(row)},
                     {"repetition", row.repetition},
                     {"seed", row.scenario.seed},
                     {"local_phase_s", row.outcome.local_phase_s},
                     {"flush_completion_s", row.outcome.flush_completion_s},
                     {"flush_after_local_s", row.outcome.flush_completion_s - row.outcome.local_phase_s},
                     {"ssd_chunks", row.outcome.chunks.back()},
                     {"tier_chunks", chunks},
                     {"waits", row.outcome.waits},
                     {"waited_s", row.outcome.waited_s},
                     {"slow_down", row.slow_down}};
  if (!row.plan.empty()) json["plan"] = row.plan;
  return json;
}

std::string rows_csv(const std::vector<SimulatedRow>& rows) {
  std::string text =
      "policy,nodes,writers,chunks,chunk_bytes,cache,repetition,seed,local_phase_s,flush_completion_s,ssd_chunks,waits,"
      "slow_down\n";
  for (const SimulatedRow& row : rows)
    text += fmt::format("{},{},{},{},{},{},{},{},{:.6f},{:.6f},{},{},{:.6f}\n", row.policy, row.scenario.nodes,
                        row.scenario.writers, row.scenario.chunks, row.scenario.chunk_bytes, cache_bytes(row),
                        row.repetition, row.scenario.seed, row.outcome.local_phase_s, row.outcome.flush_completion_s,
                        row.outcome.chunks.back(), row.outcome.waits, row.slow_down);
  return text;
}

std::string rows_table(const std::vector<SimulatedRow>& rows) {
  constexpr auto kRight = Table::Align::right;
  Table table({{"NODES", kRight},
               {"WRITERS", kRight},
               {"CHUNKS", kRight},
               {"CACHE", kRight},
               {"POLICY"},
               {"LOCAL s", kRight},
               {"FLUSHED s", kRight},
               {"LAST TIER", kRight},
               {"WAITS", kRight},
               {"SLOW-DOWN %", kRight},
               {"PLAN"}});
  std::vector<Runs> groups;
  std::map<std::tuple<unsigned, unsigned, unsigned, std::uint64_t, std::string>, std::size_t> known;
  for (const SimulatedRow& row : rows) {
    const auto& s = row.scenario;
    const auto [it, fresh] =
        known.try_emplace({s.nodes, s.writers, s.chunks, cache_bytes(row), row.policy}, groups.size());
    if (fresh) groups.emplace_back();
    groups[it->second].push_back(&row);
  }
  for (const Runs& runs : groups) table.row(cells(runs));
  return table.text();
}

base::Result<std::string> description_path(const std::string& name) {
  if (name.find('/') != std::string::npos || name.ends_with(".toml")) return name;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  const fs::path path = program.parent_path().parent_path() / "share/perdure/devices" / (name + ".toml");
  if (!error && fs::exists(path, error)) return path.string();
  return base::fail(PERDURE_NOT_FOUND, "device description '" + name.substr(0, 100) + "'",
                    "there is no " + path.string(), "give the path of a file");
}

}  // namespace perdure::cli
