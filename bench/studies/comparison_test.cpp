#include "comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cells.hpp"
#include "testing.hpp"

namespace perdure::studies {
namespace {

using testing::HasSubstr;
using testing::Not;

Row row(const char* driver, const char* policy, double local_phase_s, double flush_completion_s) {
  Row row;
  row.driver = driver;
  row.policy = policy;
  row.writers = 4;
  row.local_phase_s = local_phase_s;
  row.flush_completion_s = flush_completion_s;
  return row;
}

Row failed(const char* policy, const char* error) {
  Row failed = row("engine", policy, 0, 0);
  failed.error = error;
  return failed;
}

TEST(Comparison, SaysHowFarTheSimulatorIsFromTheEngine) {
  const std::vector<Row> real{row("engine", "a", 10, 40), row("engine", "b", 10, 10)};
  const std::vector<Row> simulated{row("simulator", "a", 12, 30), row("simulator", "b", 10, 10)};
  const Medians engine(real), simulator(simulated);
  const Cell cell = cell_of(real.front());
  EXPECT_DOUBLE_EQ(relative_error(engine, simulator, cell, "a", local_phase), 0.2);
  EXPECT_DOUBLE_EQ(relative_error(engine, simulator, cell, "a", flush_completion), -0.25);
  const std::string text = comparison_table(real, simulated);
  EXPECT_THAT(text, HasSubstr("10.00      12.00  +20.0%"));
  EXPECT_THAT(text, HasSubstr("40.00      30.00  -25.0%"));
}

TEST(Comparison, ARunThatFailedIsNoFigure) {
  const std::vector<Row> real{failed("a", "tiers: full (no-space)"), failed("b", "other"), row("engine", "b", 5, 5)};
  const std::vector<Row> simulated{row("simulator", "a", 12, 30), row("simulator", "b", 5, 5)};
  const Medians engine(real), simulator(simulated);
  EXPECT_TRUE(std::isnan(relative_error(engine, simulator, cell_of(real[0]), "a", local_phase)));
  EXPECT_EQ(relative_error(engine, simulator, cell_of(real[0]), "b", local_phase), 0) << "the run that did not fail";
  EXPECT_THAT(comparison_table(real, simulated), HasSubstr("failed      12.00       -"));
  const std::string errors = errors_text(real);
  EXPECT_THAT(errors, HasSubstr("1 runs failed: tiers: full (no-space)\n  first a (1 nodes, 4 writers"));
  EXPECT_EQ(errors_text(simulated), "");
}

TEST(Comparison, SimulatesTheSameScenarioInTheSameSize) {
  const auto driver = simulator_driver();
  Context context = veloc_node(*driver);
  context.repetitions = 2;
  auto cell = paper_scenario(context, 4, 20);
  cell.node.tiers.front().capacity_bytes = 1U << 30U;
  const auto rows = run_cells(context, {cell}).value();
  auto scaled = rows;
  for (Row& row : scaled) {
    row.driver = "engine";
    row.size_scale = 1024;
    row.local_phase_s = 0;
  }
  const auto beside = simulate_beside(context.node, scaled).value();
  ASSERT_EQ(beside.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(beside[i].driver, "simulator");
    EXPECT_EQ(beside[i].size_scale, 1024);
    EXPECT_EQ(beside[i].seed, rows[i].seed);
    EXPECT_NEAR(beside[i].local_phase_s, rows[i].local_phase_s, 1e-3 * rows[i].local_phase_s) << rows[i].policy;
    EXPECT_EQ(beside[i].ssd_chunks, rows[i].ssd_chunks) << rows[i].policy;
  }
}

}  // namespace
}  // namespace perdure::studies
