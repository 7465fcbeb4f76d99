// Studies vertical strong scaling: 64 GiB of one node divided among 1 to 256 writers (VeloC IPDPS'19, V-D, Fig. 5).
#include <algorithm>
#include <cmath>

#include "cells.hpp"

namespace perdure::studies {
namespace {

/// Finds the cell where hybrid-opt gains least.
double least_gain(const Medians& medians) {
  double least = 1e9;
  for (const Cell& cell : medians.cells()) {
    const double gain = medians.ratio(cell, "hybrid-naive", "hybrid-opt", local_phase);
    if (std::isnan(gain)) return gain;  // a cell that could not be run is no gain
    least = std::min(least, gain);
  }
  return least;
}

}  // namespace

base::Result<Results> run_strong(const Context& context) {
  std::vector<simulate::Scenario> cells;
  for (unsigned writers = 1; writers <= 256; writers *= 2)
    cells.push_back(paper_scenario(context, writers, chunks_of_64_gib(writers)));
  Results results;
  PERDURE_TRY(results.rows, run_cells(context, cells));
  const Medians medians(results.rows);
  results.goals = {at_least("local phase: hybrid-naive / hybrid-opt, worst writer count", 1, least_gain(medians))};
  for (const Cell& cell : medians.cells()) {
    if (cell.writers != 16) continue;
    results.goals.push_back(at_least("local phase: ssd-only / hybrid-opt, 16 writers", 6,
                                     medians.ratio(cell, "ssd-only", "hybrid-opt", local_phase)));
    results.goals.push_back(claim("local phase: hybrid-naive / hybrid-opt, 16 writers", 1.38,
                                  medians.ratio(cell, "hybrid-naive", "hybrid-opt", local_phase)));
  }
  for (Goal& goal : adaptive_goals(results.rows)) results.goals.push_back(std::move(goal));
  const auto writers = [](const Cell& cell) { return static_cast<double>(cell.writers); };
  results.plots = {{"local_phase", chart_of(results.rows, "Strong scaling: local phase of 64 GiB", "writers", "seconds",
                                            writers, local_phase)},
                   {"flush_completion", chart_of(results.rows, "Strong scaling: until everything is in the store",
                                                 "writers", "seconds", writers, flush_completion)}};
  return results;
}

}  // namespace perdure::studies
