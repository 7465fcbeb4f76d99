#include "outcome.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "statistics.hpp"

namespace perdure::redundancy_bench {
namespace {

void add_seconds(Json& to, const std::string& what, const std::vector<double>& seconds) {
  const bench::Spread spread = bench::spread(seconds);
  to[what + "_s"] = spread.median;
  to[what + "_min_s"] = spread.min;
  to[what + "_max_s"] = spread.max;
}

double median_ratio(const std::vector<double>& above, const std::vector<double>& below) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(above.size(), below.size()); ++i) ratios.push_back(above[i] / below[i]);
  return bench::median(ratios);
}

const SchemeTimes* find(const Times& times, const std::string& scheme) {
  const auto at = std::find_if(times.schemes.begin(), times.schemes.end(),
                               [&](const SchemeTimes& one) { return one.scheme == scheme; });
  return at == times.schemes.end() ? nullptr : &*at;
}

Json to_json(const SchemeTimes& one, const Times& times) {
  Json j{{"scheme", one.scheme}};
  add_seconds(j, "blocking", one.blocking);
  const SchemeTimes* single = find(times, "single");
  if (single != nullptr && single != &one) j["blocking_over_single"] = median_ratio(one.blocking, single->blocking);
  if (one.level_node.empty()) return j;
  add_seconds(j, "level_node", one.level_node);
  add_seconds(j, "background_cpu", one.background_cpu);
  j["level_node_over_plain_write"] = median_ratio(one.level_node, times.plain_write);
  j["level_node_over_plain_sends"] = median_ratio(one.level_node, times.plain_sends);
  return j;
}

std::string number(const Json& of, const char* key, double scale, int digits) {
  return of.contains(key) ? fmt::format("{:.{}f}", of[key].get<double>() * scale, digits) : "";
}

}  // namespace

Json to_json(const Times& times) {
  Json j;
  add_seconds(j, "memcpy", times.memcpy);
  add_seconds(j, "plain_write", times.plain_write);
  add_seconds(j, "plain_sends", times.plain_sends);
  j["schemes"] = Json::array();
  for (const SchemeTimes& one : times.schemes) j["schemes"].push_back(to_json(one, times));
  return j;
}

std::string table(const Json& j) {
  std::string text = fmt::format("memcpy {:.2f} ms, plain write to fresh files {:.2f} ms, plain sends {:.2f} ms\n",
                                 j["memcpy_s"].get<double>() * 1e3, j["plain_write_s"].get<double>() * 1e3,
                                 j["plain_sends_s"].get<double>() * 1e3);
  text += fmt::format("  {:<14} {:>12} {:>12} {:>14} {:>16} {:>16} {:>18}\n", "scheme", "blocking ms", "over single",
                      "level node ms", "over plain write", "over plain sends", "background CPU ms");
  for (const Json& one : j["schemes"])
    text += fmt::format("  {:<14} {:>12} {:>12} {:>14} {:>16} {:>16} {:>18}\n", one["scheme"].get<std::string>(),
                        number(one, "blocking_s", 1e3, 2), number(one, "blocking_over_single", 1, 3),
                        number(one, "level_node_s", 1e3, 2), number(one, "level_node_over_plain_write", 1, 2),
                        number(one, "level_node_over_plain_sends", 1, 2), number(one, "background_cpu_s", 1e3, 1));
  return text;
}

}  // namespace perdure::redundancy_bench
