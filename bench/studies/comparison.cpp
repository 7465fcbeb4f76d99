#include "comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cells.hpp"
#include "scaled.hpp"

namespace perdure::studies {
namespace {

simulate::Scenario scenario_of(const device::Node& node, const Row& row) {
  simulate::Scenario scenario;
  scenario.node = node;
  scenario.node.tiers.front().capacity_bytes = row.cache_bytes;
  scenario.nodes = row.nodes;
  scenario.writers = row.writers;
  scenario.chunks = row.chunks;
  scenario.chunk_bytes = row.chunk_bytes;
  scenario.seed = row.seed;
  return scaled(scenario, row.size_scale);
}

struct Errors {
  std::vector<double> all;
  void add(double error) {
    if (!std::isnan(error)) all.push_back(std::abs(error));
  }
  std::string text() const {
    if (all.empty()) return fmt::format("{:>8} {:>8}", "-", "-");
    double sum = 0;
    for (const double error : all) sum += error;
    return fmt::format("{:>7.1f}% {:>7.1f}%", 100 * sum / static_cast<double>(all.size()),
                       100 * *std::max_element(all.begin(), all.end()));
  }
};

std::string percent(double error) { return std::isnan(error) ? "-" : fmt::format("{:+.1f}%", 100 * error); }

std::string figure_text(const Medians& medians, const Cell& cell, const std::string& policy, const Figure& figure,
                        int digits) {
  return medians.has(cell, policy) ? fmt::format("{:.{}f}", medians.of(cell, policy, figure), digits) : "failed";
}

double on_ssd(const Row& row) { return static_cast<double>(row.ssd_chunks); }

}  // namespace

base::Result<std::vector<Row>> simulate_beside(const device::Node& node, const std::vector<Row>& rows) {
  std::vector<Row> simulated;
  for (const Row& row : rows) {
    const simulate::Scenario scenario = scenario_of(node, row);
    PERDURE_TRY(const auto policy, placement::find_policy(row.policy));
    PERDURE_TRY(const auto outcome, simulate::run(scenario, *policy));
    Row beside = row;
    beside.driver = "simulator";
    beside.time_scale = 0;
    beside.error.clear();
    beside.local_phase_s = outcome.local_phase_s;
    beside.flush_completion_s = outcome.flush_completion_s;
    beside.ssd_chunks = outcome.chunks.back();
    simulated.push_back(std::move(beside));
  }
  return simulated;
}

double relative_error(const Medians& real, const Medians& simulated, const Cell& cell, const std::string& policy,
                      const Figure& figure) {
  const bool both = real.has(cell, policy) && simulated.has(cell, policy);
  const double divisor = both ? real.of(cell, policy, figure) : 0;
  if (divisor <= 0) return std::numeric_limits<double>::quiet_NaN();
  return simulated.of(cell, policy, figure) / divisor - 1;
}

std::string comparison_table(const std::vector<Row>& real, const std::vector<Row>& simulated) {
  const Medians engine(real), simulator(simulated);
  std::map<std::string, std::pair<Errors, Errors>> errors;
  std::string text =
      fmt::format("{:>7} {:>6} {:>9}  {:<12} {:>21} {:>7} {:>21} {:>7} {:>13}\n", "WRITERS", "CHUNKS", "CACHE MiB",
                  "POLICY", "LOCAL s: engine, sim.", "error", "FLUSHED s: eng., sim.", "error", "ON SSD: e., s.");
  for (const Cell& cell : engine.cells()) {
    for (const std::string& policy : engine.policies()) {
      const double local = relative_error(engine, simulator, cell, policy, local_phase);
      const double flushed = relative_error(engine, simulator, cell, policy, flush_completion);
      errors[policy].first.add(local);
      errors[policy].second.add(flushed);
      text +=
          fmt::format("{:>7} {:>6} {:>9}  {:<12} {:>10} {:>10} {:>7} {:>10} {:>10} {:>7} {:>6} {:>6}\n", cell.writers,
                      cell.chunks, cell.cache_bytes >> 20U, policy, figure_text(engine, cell, policy, local_phase, 2),
                      figure_text(simulator, cell, policy, local_phase, 2), percent(local),
                      figure_text(engine, cell, policy, flush_completion, 2),
                      figure_text(simulator, cell, policy, flush_completion, 2), percent(flushed),
                      figure_text(engine, cell, policy, on_ssd, 0), figure_text(simulator, cell, policy, on_ssd, 0));
    }
  }
  text += fmt::format("\n{:<12} {:>17}   {:>17}\n{:<12} {:>8} {:>8}   {:>8} {:>8}\n", "ERRORS", "local phase",
                      "flush completion", "", "mean", "worst", "mean", "worst");
  for (const std::string& policy : engine.policies())
    text += fmt::format("{:<12} {}   {}\n", policy, errors[policy].first.text(), errors[policy].second.text());
  return text;
}

std::string errors_text(const std::vector<Row>& rows) {
  std::map<std::string, std::vector<std::string>> found;
  for (const Row& row : rows)
    if (!row.error.empty())
      found[row.error].push_back(fmt::format("{} ({}, seed {})", row.policy, cell_of(row).text(), row.seed));
  std::string text;
  for (const auto& [error, where] : found)
    text += fmt::format("{} runs failed: {}\n  first {}\n", where.size(), error, where.front());
  return text;
}

}  // namespace perdure::studies
