// Studies vertical weak scaling: 64 to 256 writers of 4 chunks each on one node with a 2 GiB cache (VeloC IPDPS'19,
// V-D, Fig. 4).
#include "cells.hpp"

namespace perdure::studies {

base::Result<Results> run_weak(const Context& context) {
  std::vector<simulate::Scenario> cells;
  for (unsigned writers = 64; writers <= 256; writers += context.full ? 32 : 64)
    cells.push_back(paper_scenario(context, writers, 4));
  Results results;
  PERDURE_TRY(results.rows, run_cells(context, cells));
  const Medians medians(results.rows);
  const Cell most = medians.cells().back();
  const auto ratio = [&](const char* above, const char* below, const Figure& figure) {
    return medians.ratio(most, above, below, figure);
  };
  results.goals = {
      at_least("local phase: hybrid-naive / hybrid-opt, most writers", 1.4,
               ratio("hybrid-naive", "hybrid-opt", local_phase)),
      at_least("flush completion: hybrid-naive / hybrid-opt, most writers", 2,
               ratio("hybrid-naive", "hybrid-opt", flush_completion)),
      at_least("flush completion: ssd-only / hybrid-opt, most writers", 2.5,
               ratio("ssd-only", "hybrid-opt", flush_completion)),
      at_most("flush completion: hybrid-opt / cache-only, most writers", 1.1,
              ratio("hybrid-opt", "cache-only", flush_completion)),
      claim("local phase: ssd-only / hybrid-naive, most writers", 1.3, ratio("ssd-only", "hybrid-naive", local_phase))};
  for (Goal& goal : adaptive_goals(results.rows)) results.goals.push_back(std::move(goal));
  const auto writers = [](const Cell& cell) { return static_cast<double>(cell.writers); };
  const auto chart = [&](const char* title, const char* y, const Figure& figure, std::vector<std::string> without) {
    return chart_of(results.rows, title, "writers", y, writers, figure, without);
  };
  results.plots = {
      {"local_phase", chart("Weak scaling: local phase", "seconds", local_phase, {})},
      {"flush_completion", chart("Weak scaling: until everything is in the store", "seconds", flush_completion, {})},
      {"ssd_chunks", chart("Weak scaling: chunks written to the SSD", "chunks",
                           [](const Row& row) { return static_cast<double>(row.ssd_chunks); }, {"cache-only"})}};
  return results;
}

}  // namespace perdure::studies
