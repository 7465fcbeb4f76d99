// Studies the cache size: 64 GiB of one node, 16 and 64 writers, and 2 to 8 GiB of cache. These are 1 to 4 % of the
// paper's node (VeloC IPDPS'19, V-E, Fig. 6).
#include "base/bytes.hpp"
#include "cells.hpp"

namespace perdure::studies {
namespace {

using base::GiB;

void add_plot(const std::vector<Row>& rows, unsigned writers, std::vector<Plot>& plots) {
  std::vector<Row> chosen;
  for (const Row& row : rows)
    if (row.writers == writers && row.policy != "cache-only") chosen.push_back(row);
  if (chosen.empty()) return;
  const std::string count = std::to_string(writers);
  const auto gib = [](const Cell& cell) { return static_cast<double>(cell.cache_bytes) / GiB; };
  auto chart = chart_of(chosen, "Cache size: local phase of 64 GiB, " + count + " writers", "cache, GiB", "seconds",
                        gib, local_phase, {"ssd-only"});
  chart.log_x = false;
  plots.push_back({"local_phase_" + count, std::move(chart)});
}

Cell with_cache(Cell cell, std::uint64_t bytes) {
  cell.cache_bytes = bytes;
  return cell;
}

}  // namespace

base::Result<Results> run_cache(const Context& context) {
  std::vector<simulate::Scenario> cells;
  for (unsigned writers : {16U, 64U})
    for (std::uint64_t gib = 2; gib <= 8; gib += context.full ? 1 : 2) {
      cells.push_back(paper_scenario(context, writers, chunks_of_64_gib(writers)));
      cells.back().node.tiers.front().capacity_bytes = gib * GiB;
    }
  Results results;
  PERDURE_TRY(results.rows, run_cells(context, cells));
  const Medians medians(results.rows);
  for (const Cell& small : medians.cells()) {
    const Cell large = with_cache(small, 8 * GiB);
    if (small.cache_bytes != 2 * GiB || !medians.has(small, "hybrid-opt") || !medians.has(large, "hybrid-opt"))
      continue;
    const auto loss = [&](const char* policy) {
      return medians.of(small, policy, local_phase) / medians.of(large, policy, local_phase);
    };
    const std::string writers = ", " + std::to_string(small.writers) + " writers";
    results.goals.push_back(
        at_most("local phase: hybrid-opt with 2 GiB / with 8 GiB" + writers, 1.1, loss("hybrid-opt")));
    results.goals.push_back(claim("local phase: hybrid-naive / hybrid-opt with 2 GiB" + writers,
                                  small.writers == 16 ? 1.25 : 2,
                                  medians.ratio(small, "hybrid-naive", "hybrid-opt", local_phase)));
    results.goals.push_back(claim("local phase: hybrid-naive / hybrid-opt with 8 GiB" + writers, 1.25,
                                  medians.ratio(large, "hybrid-naive", "hybrid-opt", local_phase)));
  }
  for (Goal& goal : adaptive_goals(results.rows)) results.goals.push_back(std::move(goal));
  for (unsigned writers : {16U, 64U}) add_plot(results.rows, writers, results.plots);
  return results;
}

}  // namespace perdure::studies
