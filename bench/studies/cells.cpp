#include "cells.hpp"

#include <algorithm>

#include "simulate/oracle.hpp"

namespace perdure::studies {
namespace {

Row made_of(const char* driver, const simulate::Scenario& scenario, unsigned repetition,
            const simulate::Outcome& outcome, std::string policy) {
  Row row = row_of(scenario, outcome);
  row.driver = driver;
  row.repetition = repetition;
  row.policy = std::move(policy);
  return row;
}

base::Status run_once(const Context& context, const simulate::Scenario& scenario, unsigned repetition,
                      std::vector<Row>& rows) {
  for (const auto& policy : placement::policies()) {
    const auto outcome = context.driver->run(scenario, policy);
    if (!outcome && !context.driver->may_fail()) return base::fail(outcome.error());
    rows.push_back(
        made_of(context.driver->name(), scenario, repetition, outcome.value_or(simulate::Outcome{}), policy.name));
    rows.back().size_scale = context.driver->scale().size;
    rows.back().time_scale = context.driver->scale().time;
    if (!outcome) rows.back().error = outcome.error().text();
  }
  if (!context.oracle) return {};
  PERDURE_TRY(const auto best, simulate::oracle(scenario));  // it knows the future: virtual time only
  rows.push_back(made_of("simulator", scenario, repetition, best.outcome, "oracle"));
  rows.back().plan = best.plan;
  return {};
}

}  // namespace

simulate::Scenario paper_scenario(const Context& context, unsigned writers, unsigned chunks) {
  simulate::Scenario scenario;
  scenario.node = context.node;
  scenario.writers = writers;
  scenario.chunks = chunks;
  scenario.chunk_bytes = 64U << 20U;
  scenario.jitter_s = context.jitter_s;
  scenario.max_simulated = context.full ? 64 : 16;
  return scenario;
}

unsigned chunks_of_64_gib(unsigned writers) { return 1024 / writers; }

base::Result<std::vector<Row>> run_cells(const Context& context, std::vector<simulate::Scenario> cells) {
  std::erase_if(
      cells, [&](const auto& cell) { return !context.driver->takes(cell) || (context.takes && !context.takes(cell)); });
  if (cells.empty())
    return base::fail(PERDURE_INVALID_ARGUMENT, "study", "none of its cells can be run here", "choose another driver");
  if (context.max_cells > 0 && cells.size() > context.max_cells) cells.resize(context.max_cells);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (context.progress)
      context.progress("cell " + std::to_string(i + 1) + " of " + std::to_string(cells.size()) + ": " +
                       std::to_string(cells[i].nodes) + " nodes, " + std::to_string(cells[i].writers) + " writers");
    for (unsigned repetition = 0; repetition < context.repetitions; ++repetition) {
      simulate::Scenario scenario = cells[i];
      scenario.seed = context.seed + repetition;
      PERDURE_CHECK(run_once(context, scenario, repetition, rows));
    }
  }
  return rows;
}

plot::Chart chart_of(const std::vector<Row>& rows, const std::string& title, const std::string& x_label,
                     const std::string& y_label, const std::function<double(const Cell&)>& x, const Figure& figure,
                     const std::vector<std::string>& without) {
  const Medians medians(rows);
  plot::Chart chart{title, x_label, y_label, true, false, {}};
  for (const std::string& policy : medians.policies()) {
    if (std::find(without.begin(), without.end(), policy) != without.end()) continue;
    plot::Series series{policy, {}, true, true};
    for (const Cell& cell : medians.cells())
      if (medians.has(cell, policy)) series.points.push_back({x(cell), medians.of(cell, policy, figure)});
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace perdure::studies
