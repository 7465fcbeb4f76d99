#pragma once
// What most studies do: every policy on every cell, several times.
#include "study.hpp"

namespace perdure::studies {

/// One node as in the paper's V-D: chunks of 64 MiB, a 2 GiB cache; more than 16 nodes (full: 64) are
/// represented by so many.
simulate::Scenario paper_scenario(const Context& context, unsigned writers, unsigned chunks);

/// Chunks per writer when 64 GiB are divided among them.
unsigned chunks_of_64_gib(unsigned writers);

/// All policies and the oracle, `repetitions` seeds each.
base::Result<std::vector<Row>> run_cells(const Context& context, std::vector<simulate::Scenario> cells);

/// One line for each policy (those of `without` left out): medians of `figure` over `x`.
plot::Chart chart_of(const std::vector<Row>& rows, const std::string& title, const std::string& x_label,
                     const std::string& y_label, const std::function<double(const Cell&)>& x, const Figure& figure,
                     const std::vector<std::string>& without = {});

}  // namespace perdure::studies
