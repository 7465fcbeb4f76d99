#include "study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cells.hpp"
#include "synchronous.hpp"
#include "testing.hpp"

namespace perdure::studies {
namespace {

/// Accepts the simulator's cells, but only few nodes.
class CountingDriver final : public Driver {
 public:
  const char* name() const override { return "counting"; }
  bool takes(const simulate::Scenario& scenario) const override { return scenario.nodes == 1; }
  base::Result<simulate::Outcome> run(const simulate::Scenario& scenario, const placement::Policy&) override {
    ++runs;
    simulate::Outcome outcome;
    outcome.local_phase_s = static_cast<double>(scenario.seed);
    outcome.flush_completion_s = 10;
    outcome.chunks = {1, 2};
    return outcome;
  }
  unsigned runs = 0;
};

/// Acts as a real engine on which `adaptive` finds no room.
class FailingDriver final : public Driver {
 public:
  explicit FailingDriver(bool may_fail) : may_fail_(may_fail) {}
  const char* name() const override { return "failing"; }
  bool takes(const simulate::Scenario&) const override { return true; }
  Scale scale() const override { return {1024, 0.5}; }
  bool may_fail() const override { return may_fail_; }
  base::Result<simulate::Outcome> run(const simulate::Scenario&, const placement::Policy& policy) override {
    if (std::string(policy.name) == "adaptive") return base::fail(PERDURE_NO_SPACE, "tiers", "\"full\", all");
    simulate::Outcome outcome;
    outcome.local_phase_s = outcome.flush_completion_s = 1;
    outcome.chunks = {1, 2};
    return outcome;
  }

 private:
  bool may_fail_;
};

TEST(Cells, AreOfWritersThatBeginAsFarApartAsTheyWereToldTo) {
  CountingDriver driver;
  Context context = veloc_node(driver);
  context.jitter_s = 0.25;
  EXPECT_EQ(paper_scenario(context, 4, 2).jitter_s, 0.25);
}

TEST(Cells, RunEveryPolicyWithEverySeedByTheDriver) {
  CountingDriver driver;
  Context context = veloc_node(driver);
  context.max_cells = 0;
  auto many = paper_scenario(context, 4, 2);
  many.nodes = 2;
  const auto rows = run_cells(context, {paper_scenario(context, 4, 2), many}).value();
  EXPECT_EQ(rows.size(), 2 * placement::policies().size()) << "the cell with two nodes is left out";
  EXPECT_EQ(driver.runs, rows.size());
  EXPECT_EQ(rows.front().driver, "counting");
  EXPECT_EQ(rows.front().ssd_chunks, 2u);
  EXPECT_EQ(rows.back().seed, 2u);
  EXPECT_EQ(rows.back().repetition, 1u);
}

TEST(Cells, AreLeftOutWhenNotChosenAndNoneAtAllIsAnError) {
  CountingDriver driver;
  Context context = veloc_node(driver);
  context.takes = [](const simulate::Scenario& scenario) { return scenario.writers == 8; };
  const auto rows = run_cells(context, {paper_scenario(context, 4, 2), paper_scenario(context, 8, 2)}).value();
  EXPECT_EQ(rows.front().writers, 8u);
  EXPECT_EQ(rows.size(), 2 * placement::policies().size());
  EXPECT_EQ(run_cells(context, {paper_scenario(context, 4, 2)}).error().code, PERDURE_INVALID_ARGUMENT);
}

TEST(Cells, AFailureIsARowWhereItMayHappenAndTheEndWhereNot) {
  FailingDriver real(true), virtual_time(false);
  Context context = veloc_node(real);
  const auto rows = run_cells(context, {paper_scenario(context, 4, 2)}).value();
  ASSERT_EQ(rows.size(), 2 * placement::policies().size());
  unsigned failed = 0;
  for (const Row& row : rows) {
    EXPECT_EQ(row.size_scale, 1024);
    EXPECT_EQ(row.time_scale, 0.5);
    EXPECT_EQ(row.error.empty(), row.policy != "adaptive");
    failed += row.error.empty() ? 0 : 1;
  }
  EXPECT_EQ(failed, 2u);
  const Medians medians(rows);
  const Cell cell = medians.cells().front();
  EXPECT_FALSE(medians.has(cell, "adaptive"));
  EXPECT_TRUE(std::isnan(medians.ratio(cell, "adaptive", "hybrid-opt", local_phase)));
  EXPECT_FALSE(at_most("nothing", 1, medians.ratio(cell, "adaptive", "hybrid-opt", local_phase)).met());
  EXPECT_THAT(rows_csv(rows), testing::HasSubstr(",\"tiers: \"\"full\"\", all"));
  EXPECT_THAT(rows_json(rows), testing::HasSubstr("\"error\": \"tiers: "));
  context.driver = &virtual_time;
  EXPECT_EQ(run_cells(context, {paper_scenario(context, 4, 2)}).error().code, PERDURE_NO_SPACE);
}

TEST(Studies, AreFoundByName) {
  EXPECT_EQ(studies().size(), 6u);
  EXPECT_STREQ(find_study("weak").value()->name, "weak");
  EXPECT_THAT(find_study("week").error().cause, testing::HasSubstr("strong"));
}

TEST(Studies, ASynchronousWriterGetsItsShareOfTheStore) {
  const auto driver = simulator_driver();
  simulate::Scenario scenario = paper_scenario(veloc_node(*driver), 16, 10);
  scenario.node.store.variability = {};
  scenario.node.store.latency_s = 0;
  const double bytes = 160.0 * static_cast<double>(scenario.chunk_bytes);
  EXPECT_NEAR(synchronous_write_s(scenario, 1), bytes / 2.1e9, 1e-6);
  EXPECT_NEAR(synchronous_write_s(scenario, 0.5), 2 * bytes / 2.1e9, 1e-6);
  scenario.nodes = 256;
  EXPECT_NEAR(synchronous_write_s(scenario, 1), bytes / (160e9 / 256), 1e-6);
}

TEST(Rows, AreWrittenWithTheirOwnFigures) {
  Row row;
  row.policy = "adaptive";
  row.extra["increase_s"] = 1.5;
  EXPECT_THAT(rows_json({row}), testing::HasSubstr("\"increase_s\": 1.5"));
  EXPECT_THAT(rows_csv({row}), testing::HasSubstr("ssd_chunks,increase_s\nadaptive,"));
}

}  // namespace
}  // namespace perdure::studies
