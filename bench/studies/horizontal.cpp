// Studies horizontal weak scaling: nodes of 16 writers with 2 GiB each share the store (VeloC IPDPS'19, V-F, Fig. 7).
// The paper ends at 256 nodes.
#include <algorithm>

#include "cells.hpp"

namespace perdure::studies {

base::Result<Results> run_horizontal(const Context& context) {
  std::vector<simulate::Scenario> cells;
  const std::vector<unsigned> counts =
      context.full ? std::vector<unsigned>{64, 80, 96, 128, 160, 192, 224, 256, 384, 512, 1024, 2048, 4096, 8192, 16384}
                   : std::vector<unsigned>{64, 96, 128, 192, 256, 512, 1024, 4096, 16384};
  for (unsigned nodes : counts) {
    cells.push_back(paper_scenario(context, 16, 32));
    cells.back().nodes = nodes;
  }
  Results results;
  PERDURE_TRY(results.rows, run_cells(context, cells));
  const Medians medians(results.rows);
  double most = 0;
  for (const Cell& cell : medians.cells())
    if (cell.nodes <= 256) most = std::max(most, medians.ratio(cell, "hybrid-naive", "hybrid-opt", local_phase));
  results.goals = {claim("local phase: hybrid-naive / hybrid-opt, best up to 256 nodes", 1.5, most)};
  for (Goal& goal : adaptive_goals(results.rows)) results.goals.push_back(std::move(goal));
  const auto nodes = [](const Cell& cell) { return static_cast<double>(cell.nodes); };
  auto local = chart_of(results.rows, "Horizontal scaling: local phase", "nodes", "seconds", nodes, local_phase);
  auto flush = chart_of(results.rows, "Horizontal scaling: until everything is in the store", "nodes", "seconds", nodes,
                        flush_completion);
  local.log_y = flush.log_y = true;
  results.plots = {{"local_phase", std::move(local)}, {"flush_completion", std::move(flush)}};
  return results;
}

}  // namespace perdure::studies
