#include "row.hpp"

#include <fmt/format.h>

#include "base/cbor.hpp"
#include "base/json.hpp"

namespace perdure::studies {
namespace {

std::string quoted(std::string text) {
  if (text.empty()) return text;
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return '"' + text + '"';
}

}  // namespace

Row row_of(const simulate::Scenario& scenario, const simulate::Outcome& outcome) {
  Row row;
  row.nodes = scenario.nodes;
  row.writers = scenario.writers;
  row.chunks = scenario.chunks;
  row.chunk_bytes = scenario.chunk_bytes;
  row.cache_bytes = scenario.node.tiers.front().capacity_bytes;
  row.seed = scenario.seed;
  row.local_phase_s = outcome.local_phase_s;
  row.flush_completion_s = outcome.flush_completion_s;
  row.ssd_chunks = outcome.chunks.empty() ? 0 : outcome.chunks.back();
  return row;
}

std::string rows_json(const std::vector<Row>& rows) {
  base::Json list = base::Json::array();
  for (const Row& row : rows) {
    base::Json json = {{"policy", row.policy},
                       {"driver", row.driver},
                       {"nodes", row.nodes},
                       {"writers", row.writers},
                       {"chunks", row.chunks},
                       {"chunk_bytes", row.chunk_bytes},
                       {"cache", row.cache_bytes},
                       {"repetition", row.repetition},
                       {"seed", row.seed},
                       {"size_scale", row.size_scale},
                       {"time_scale", row.time_scale},
                       {"local_phase_s", row.local_phase_s},
                       {"flush_completion_s", row.flush_completion_s},
                       {"ssd_chunks", row.ssd_chunks}};
    for (const auto& [key, value] : row.extra) json[key] = value;
    if (!row.application.empty()) json["application"] = row.application;
    if (!row.plan.empty()) json["plan"] = row.plan;
    if (!row.error.empty()) json["error"] = row.error;
    list.push_back(std::move(json));
  }
  return list.dump(1, ' ', false, base::Json::error_handler_t::replace) + "\n";
}

std::string rows_csv(const std::vector<Row>& rows) {
  std::string text =
      "policy,driver,application,nodes,writers,chunks,chunk_bytes,cache,repetition,seed,size_scale,"
      "time_scale,error,local_phase_s,flush_completion_s,ssd_chunks";
  if (!rows.empty())
    for (const auto& [key, value] : rows.front().extra) text += "," + key;
  text += "\n";
  for (const Row& row : rows) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{:.6f},{:.6f},{}", row.policy, row.driver,
                        row.application, row.nodes, row.writers, row.chunks, row.chunk_bytes, row.cache_bytes,
                        row.repetition, row.seed, row.size_scale, row.time_scale, quoted(row.error), row.local_phase_s,
                        row.flush_completion_s, row.ssd_chunks);
    for (const auto& [key, value] : row.extra) text += fmt::format(",{:.6g}", value);
    text += "\n";
  }
  return text;
}

}  // namespace perdure::studies
