#include "study.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "cells.hpp"
#include "synchronous.hpp"

namespace perdure::studies {
namespace {

Context tiny(Driver& driver) {
  const std::string path = std::string(PERDURE_DEVICES) + "/veloc-node.toml";
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  Context context;
  context.node = device::parse_description(text.str(), path).value();
  context.driver = &driver;
  context.repetitions = 2;
  context.max_cells = 1;
  context.oracle = false;
  return context;
}

/// Takes part where the simulator does, and can run few nodes only.
class CountingDriver final : public Driver {
 public:
  const char* name() const override { return "counting"; }
  unsigned max_nodes() const override { return 1; }
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

TEST(Cells, RunEveryPolicyWithEverySeedByTheDriver) {
  CountingDriver driver;
  Context context = tiny(driver);
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

TEST(Studies, AreFoundByName) {
  EXPECT_EQ(studies().size(), 6u);
  EXPECT_STREQ(find_study("weak").value()->name, "weak");
  EXPECT_THAT(find_study("week").error().cause, testing::HasSubstr("strong"));
}

TEST(Studies, ASynchronousWriterGetsItsShareOfTheStore) {
  const auto driver = simulator_driver();
  simulate::Scenario scenario = paper_scenario(tiny(*driver), 16, 10);
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
