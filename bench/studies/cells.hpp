#pragma once
// Runs what most studies have in common: every policy on every cell, several times.
#include "study.hpp"

namespace perdure::studies {

/// Makes one node as in the paper's V-D: chunks of 64 MiB, a 2 GiB cache. At most 16 nodes (full: 64) are simulated;
/// they represent any further ones.
simulate::Scenario paper_scenario(const Context& context, unsigned writers, unsigned chunks);

/// Returns the chunks per writer if 64 GiB are divided among them.
unsigned chunks_of_64_gib(unsigned writers);

/// Runs all policies and the oracle, with `repetitions` seeds each.
base::Result<std::vector<Row>> run_cells(const Context& context, std::vector<simulate::Scenario> cells);

/// Draws one line for each policy (except those in `without`): medians of `figure` over `x`.
plot::Chart chart_of(const std::vector<Row>& rows, const std::string& title, const std::string& x_label,
                     const std::string& y_label, const std::function<double(const Cell&)>& x, const Figure& figure,
                     const std::vector<std::string>& without = {});

}  // namespace perdure::studies
